// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/judge/gate.h"
#include "perf/report/row_history.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::cli {

// What the SQLite file has of these rows on the device. Throws Error where there is no such file.
report::History row_history(const std::filesystem::path& file, const std::string& device,
                            const std::vector<judge::RowResult>& rows);

} // namespace kg::cli
