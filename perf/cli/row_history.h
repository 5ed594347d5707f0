// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/judge/gate.h"
#include "perf/report/row_history.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::cli {

// The history of these rows on the device, from the SQLite file. Throws Error if it does not exist.
report::History row_history(const std::filesystem::path& file, const std::string& device,
                            const std::vector<judge::RowResult>& rows);

} // namespace kg::cli
