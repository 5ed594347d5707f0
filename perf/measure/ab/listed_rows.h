// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/judge/row.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace kg::ab {

// The rows that another build of `kernelgrade` offers for the options `filter`, from the table of
// its `list`; none where it does not know their words, as a commit before an operation does not.
std::set<judge::RowKey> listed_rows(const std::filesystem::path& executable,
                                    const std::vector<std::string>& filter);

// The rows of such a table: lines of cells parted by two spaces or more, which begin with the case,
// its variants and its modes.
std::set<judge::RowKey> rows_of_table(const std::string& table);

} // namespace kg::ab
