// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats judged counts (costs, resources) for the report.
#pragma once

#include "perf/judge/exact_gate.h"
#include "perf/report/junit.h"

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::report {

// One table of counts with the gate's result.
struct CountedSection {
  const judge::ExactTable* table = nullptr;
  std::string name; // "costs", or the compilation target: "sm_90a-cuda13.0"
  std::vector<judge::ExactMeasured> measured;
  judge::ExactResult result; // one row for each of `measured`, in the same order
};
using CountedSections = std::vector<CountedSection>;

// Indices into `measured`, worst first: failures, rows without a baseline, changes, the rest.
// Within a group by lowest ratio to the baseline, then to the minimum.
std::vector<std::size_t> worst_first(const CountedSection& section);

// Whether nothing was compiled or counted, because everything is unchanged since it was blessed.
bool is_unchanged(const CountedSection& section);

// "costs: 1 regressed, 4523 pass, 17264 unchanged since blessed (not counted)"
std::string line(const CountedSection& section);

// For report.json: the names of keys and quantities, verdict counts, faults, and rows whose members
// are named after the table's columns. `baseline` holds blessed values that differ. Rows that were
// not counted or compiled count as `unchanged` and have no verdict.
nlohmann::json json(const CountedSection& section);

// A heading, the counts, faults, and the worst `most` of the changed rows.
std::string markdown(const CountedSection& section, std::size_t most);

// Records of rows.csv by column, one per quantity of each counted or compiled row. For a kernel,
// column `case` holds its name and `variant` the compilation target. Unchanged rows have neither a
// message nor a hint.
inline constexpr const char* kCountedColumns[] = {"metric",  "baseline", "measured",
                                                  "minimum", "site",     "hint"};
std::vector<std::map<std::string, std::string>> csv_records(const CountedSection& section);

// One test per row and per fault.
TestSuite junit_suite(const CountedSection& section);

} // namespace kg::report
