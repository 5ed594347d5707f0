// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts lines of a file to rows of an exact table and back. If the table has metrics, one line
// holds the rows of all of them (MetricColumns).
#pragma once

#include "perf/judge/exact_table.h"

#include <string>
#include <vector>

namespace kg::judge {

// The rows of a line whose fields passed the schema's checks. Contradictions between fields are
// added to `complaints`.
std::vector<ExactRow> rows_of(const ExactTable& table, const TableRow& line,
                              std::vector<Complaint>& complaints);

// The fields of each line for write_table. Throws kg::Error if a row does not fit the table, or
// rows of one line contradict each other.
std::vector<std::vector<std::string>> lines_of(const ExactTable& table,
                                               const std::vector<ExactRow>& rows);

} // namespace kg::judge
