// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a judged run amounts to, for the end of a console and for the report.
#pragma once

#include "perf/judge/verdict_counts.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kg::judge {

// The grade of a group of rows: the geometric mean of their ratios. None where a row of the group
// has no grade, since what was not measured might be the worst; at best fair where a row is
// critical, since a mean must not hide it.
struct GroupGrade {
  std::size_t rows = 0;
  std::size_t graded = 0;
  std::optional<double> geomean; // of the rows that have a grade
  std::optional<Grade> grade;
};
GroupGrade grade_group(std::span<const RowResult* const> rows);

// Verdicts count what is gated: a vendor's row informs, and is called neither slower nor passed.
// Grades and categories count our own variants: a vendor's time says nothing of our kernels.
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

// The console's tables and messages, ended by exit_line.
std::string plain_text(const Summary& summary, const GateResult& result);

// As parts of a Markdown report: the counts with the tables; and of what is worth knowing, though
// no failure, `most` lines.
std::string counts_markdown(const Summary& summary);
std::string worth_knowing_markdown(const Summary& summary, std::size_t most);

// "FAILED: 1 regressed, 37 pass (exit 1)"
std::string exit_line(const Summary& summary, const GateResult& result);

} // namespace kg::judge
