// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// All sentences of the exact gate (exact_gate.h). Judging yields causes and numbers; these
// functions turn them into text, once, at the end.
#pragma once

#include "perf/judge/exact_gate.h"

#include <string>
#include <vector>

namespace kg::judge {

// What a row was judged from.
struct ExactEvidence {
  const ExactTable* table;
  const ExactFile* file;
  const ExactMeasured* now;
  const ExactRow* old; // null: there is no such row in the file
  ExactComparison found;
};
struct ExactFaults {
  std::vector<const ExactRow*> repeated; // measured twice
  std::vector<const ExactRow*> orphans;
};
void word(ExactVerdict& verdict, const ExactEvidence& evidence, const ExactOptions& options);
std::vector<std::string> sentences(const ExactFaults& faults, const ExactTable& table,
                                   const ExactFile& file, bool no_rows,
                                   const ExactOptions& options);

// The complaint about a count below its minimum; only for rows with is_below_minimum().
std::string below_minimum_text(const ExactTable& table, const ExactRow& row);

// "spill_bytes 0 -> 96, occupancy_pct 50 -> 37.5"; empty if nothing changed.
std::string changes_text(const ExactComparison& found);

// The fix for a row that became worse: the row's own hint, or else those of its worse quantities.
std::string hint_text(const ExactMeasured& now, const ExactComparison& found);

} // namespace kg::judge
