// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// From the lines of a file to an exact table's rows and back. Where the table has metrics, one line
// holds the rows of all of them (MetricColumns).
#pragma once

#include "perf/judge/exact_table.h"

#include <string>
#include <vector>

namespace kg::judge {

// The rows of a line whose fields have passed the schema's checks. What no single field can see is
// added to `complaints`.
std::vector<ExactRow> rows_of(const ExactTable& table, const TableRow& line,
                              std::vector<Complaint>& complaints);

// The fields of each line, as write_table takes them. Throws kg::Error where a row does not fit the
// table, or rows of one line contradict each other.
std::vector<std::vector<std::string>> lines_of(const ExactTable& table,
                                               const std::vector<ExactRow>& rows);

} // namespace kg::judge
