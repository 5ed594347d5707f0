// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two builds measured side by side: what `kernelgrade ab --json` writes.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/row.h"
#include "perf/report/junit.h"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kg::report {

struct ComparedPair {
  judge::RowKey key;
  judge::Verdict verdict = judge::Verdict::invalid;
  double a_ns = 0; // medians of the processes; 0: not measured
  double b_ns = 0;
  std::size_t pairs = 0;
  std::optional<double> ratio; // A / B: below 1, B is slower
  judge::Interval ratio_interval;
  double detectable_pct = 0; // the slow-down that these pairs would find 9 in 10 times
  std::string reason;
};

struct SideBySide {
  std::string a; // commits
  std::string b;
  std::vector<ComparedPair> rows;
};

// Throws Error, naming `file`, where something is missing.
SideBySide side_by_side_from(const nlohmann::json& root, const std::string& file);

// Of its rows: 1 beats 0 beats 77.
int exit_code(const SideBySide& compared);

// "beside 1a2b3c4d5e6f: 1 regressed, 30 pass"
std::string line(const SideBySide& compared);

// "beside 1a2b3c4d5e6f"
std::string title(const SideBySide& compared);

nlohmann::json to_json(const SideBySide& compared);

TestSuite junit_suite(const SideBySide& compared);

} // namespace kg::report
