// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares two stored results, row by row. Results from different times can be compared, with less
// certainty than interleaved runs (confirm.h); the interval says how much less. Pure.
//
// With d = mean ln A - mean ln B of the process medians, Welch's t (1947) bounds the ratio
// A / B = exp d from below and above, each with error probability `alpha`. On the host, and if a
// GPU's canaries drifted, the ratio is in canary units.
//
//   regressed     the whole interval lies below 1 / (1 + tolerance)
//   improved      the whole interval lies above 1 + tolerance
//   pass          the whole interval lies above 1 / (1 + tolerance)
//   env           the canaries show that the machines are not comparable
//   inconclusive  otherwise, and always with one process on a side: samples within a process are
//                 not independent, so a difference may come from the process and not the build
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kg::judge {

struct CompareRule {
  Device device = Device::host;
  std::optional<double> tol_pct; // in percent of A's time; default: the device's (limits.h)
  double alpha = 0.001;          // error probability of each bound
};

struct ComparedRow {
  // A is the baseline, B the measured time. The interval is Welch's, or with one process on a side
  // that of the quotient of both medians' intervals.
  RowResult result;
  std::size_t a_processes = 0;
  std::size_t b_processes = 0;
  // The slow-down that these processes would detect with probability kPower.
  std::optional<double> detectable_pct;
};

struct ComparedResults {
  std::vector<ComparedRow> rows; // rows in both results, in A's order
  std::vector<RowKey> only_a;
  std::vector<RowKey> only_b;
  // Differences of the environments except the date: A's value and B's, empty if absent.
  std::map<std::string, std::pair<std::string, std::string>> environment;
  bool across_devices = false; // then every row is informational
  double tol_pct = 0;
};

ComparedResults compare(const Results& a, const Results& b, const CompareRule& rule);

// 1 if a row is missing on one side or there are no rows; otherwise exit_of_rows(). Across devices
// 0, or 1 with `strict`.
int exit_code(const ComparedResults& compared, bool strict);

// The same as a gate result with A as the baseline. Rows missing in B are invalid, rows missing in
// A are unblessed, and both fail.
GateResult as_gate(const ComparedResults& compared, const Results& a, const Results& b,
                   bool strict);

} // namespace kg::judge
