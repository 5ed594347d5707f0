// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Judged counts (costs, resources) in the report's faces.
#pragma once

#include "perf/judge/exact_gate.h"
#include "perf/report/junit.h"

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::report {

// One table of counts with what the gate made of it.
struct CountedSection {
  const judge::ExactTable* table = nullptr;
  std::string name; // "costs", or what kernels were compiled for: "sm_90a-cuda13.0"
  std::vector<judge::ExactMeasured> measured;
  judge::ExactResult result; // has a row for each of `measured`, in its order
};
using CountedSections = std::vector<CountedSection>;

// Places in `measured`, worst first: failures, then what has no baseline, changes, the rest; among
// equals the lowest ratio to the baseline, then to the minimum.
std::vector<std::size_t> worst_first(const CountedSection& section);

// Whether nothing in it was compiled or counted, since all is unchanged since it was blessed.
bool is_unchanged(const CountedSection& section);

// "costs: 1 regressed, 4523 pass, 17264 unchanged since blessed (not counted)"
std::string line(const CountedSection& section);

// For report.json: the names of keys and quantities, counts of verdicts, faults, and the rows with
// members called as the table's columns; blessed values that differ lie in `baseline`. Rows that
// were not counted or compiled are counted as `unchanged`, and no verdict.
nlohmann::json json(const CountedSection& section);

// A heading, the counts, faults, and of the rows that are not as blessed the worst `most`.
std::string markdown(const CountedSection& section, std::size_t most);

// Records of rows.csv by column, one per quantity of each row that was counted or compiled. A
// kernel stands in the column `case`, what it was compiled for in `variant`. What is as blessed has
// neither a message nor a hint.
inline constexpr const char* kCountedColumns[] = {"metric",  "baseline", "measured",
                                                  "minimum", "site",     "hint"};
std::vector<std::map<std::string, std::string>> csv_records(const CountedSection& section);

// A test per row and per fault.
TestSuite junit_suite(const CountedSection& section);

} // namespace kg::report
