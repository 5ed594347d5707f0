// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Summarizes a judged run for the console and the report.
#pragma once

#include "perf/judge/gate.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kg::judge {

// The grade of a group of rows, from the geometric mean of their ratios. Empty if any row has no
// grade, since that row might be the worst. At most fair if any row is critical, since a mean must
// not hide it.
struct GroupGrade {
  std::size_t rows = 0;
  std::size_t graded = 0;
  std::optional<double> geomean; // of the rows that have a grade
  std::optional<Grade> grade;
};
GroupGrade grade_group(std::span<const RowResult* const> rows);

// Verdicts count gated rows; library rows are counted apart. Grades and categories count our own
// variants only.
struct Summary {
  VerdictCounts verdicts;
  std::map<Grade, std::size_t> grades;
  std::map<std::string, GroupGrade> categories;
  std::vector<const RowResult*> worst;   // our graded rows, lowest ratio first
  std::vector<const RowResult*> to_fix;  // rows that fail
  std::vector<const RowResult*> to_know; // skipped, undecided, unblessed or with a warning
};

// Points into `result`, which must outlive the summary.
Summary summarise(const GateResult& result, std::size_t worst_rows = 5);

// Tables and messages for the console; the last line is exit_line().
std::string plain_text(const Summary& summary, const GateResult& result);

// Parts of a Markdown report: counts and tables, and at most `most` lines about rows that do not
// fail but deserve attention.
std::string counts_markdown(const Summary& summary);
std::string worth_knowing_markdown(const Summary& summary, std::size_t most);

// "FAILED: 1 regressed, 37 pass (exit 1)"
std::string exit_line(const Summary& summary, const GateResult& result);

} // namespace kg::judge
