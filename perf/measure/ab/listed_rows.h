// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/judge/row.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace kg::ab {

// The rows that another build of `kernelgrade` prints with `list` for the options `filter`. Empty
// if that build does not know the filter's words, for example because it predates the operation.
std::set<judge::RowKey> listed_rows(const std::filesystem::path& executable,
                                    const std::vector<std::string>& filter);

// Parses such a table. Its cells are separated by at least two spaces. Each line begins with the
// case, its variants and its modes.
std::set<judge::RowKey> rows_of_table(const std::string& table);

} // namespace kg::ab
