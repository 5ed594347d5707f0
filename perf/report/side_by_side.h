// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two builds measured side by side, as written by `kernelgrade ab --json`.
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
  double a_ns = 0; // medians over processes; 0: not measured
  double b_ns = 0;
  std::size_t pairs = 0;
  std::optional<double> ratio; // A / B; below 1: B is slower
  judge::Interval ratio_interval;
  double detectable_pct = 0; // the slow-down that these pairs would detect in 9 of 10 runs
  std::string reason;
};

struct SideBySide {
  std::string a; // commits
  std::string b;
  std::vector<ComparedPair> rows;
};

// Throws Error with `file` if a member is missing.
SideBySide side_by_side_from(const nlohmann::json& root, const std::string& file);

// judge::exit_of_rows() of its rows.
int exit_code(const SideBySide& compared);

// "beside 1a2b3c4d5e6f: 1 regressed, 30 pass"
std::string line(const SideBySide& compared);

// "beside 1a2b3c4d5e6f"
std::string title(const SideBySide& compared);

nlohmann::json to_json(const SideBySide& compared);

TestSuite junit_suite(const SideBySide& compared);

} // namespace kg::report
