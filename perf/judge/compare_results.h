// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two stored results, row by row. What was measured at different times can be compared, but less
// surely than what is measured side by side (confirm.h); this says how surely. Pure.
//
// With d = mean ln A - mean ln B of the process medians, Welch's t (1947)
// bounds the ratio A / B = exp d from below and from above, each with an error of `alpha`. On the
// host, and where a GPU's canaries drifted, the ratio is in units of the canaries.
//
//   regressed     the whole interval lies below 1 / (1 + tolerance)
//   improved      the whole interval lies above 1 + tolerance
//   pass          the whole interval lies above 1 / (1 + tolerance)
//   env           the canaries say that the machine was another one
//   inconclusive  otherwise, and always with one process on a side: samples of one process are no
//                 replicates of it, so a difference of builds cannot be told from one of processes
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
  std::optional<double> tol_pct; // in percent of A's time; absent: the device's (limits.h)
  double alpha = 0.001;          // of each bound
};

struct ComparedRow {
  // The baseline is A, the measured time B. The interval is Welch's, or with one process on a side
  // the one that both medians' intervals leave.
  RowResult result;
  std::size_t a_processes = 0;
  std::size_t b_processes = 0;
  // The slow-down that this many processes, this noisy, would find 9 in 10 times.
  std::optional<double> detectable_pct;
};

struct ComparedResults {
  std::vector<ComparedRow> rows; // on both sides, in A's order
  std::vector<RowKey> only_a;
  std::vector<RowKey> only_b;
  // What the environments differ in, but for the date: A's value and B's, empty where not stated.
  std::map<std::string, std::pair<std::string, std::string>> environment;
  bool across_devices = false; // then every row is for information only
  double tol_pct = 0;
};

ComparedResults compare(const Results& a, const Results& b, const CompareRule& rule);

// 1 if a row fails or there is no row on both sides, else 0 if any passes, else 77, which `strict`
// turns into 1. Across devices 0, unless there is no common row.
int exit_code(const ComparedResults& compared, bool strict);

// The same as a gate's result, for which A is the baseline: rows that B lacks are invalid, rows
// that A lacks are unblessed, and both fail.
GateResult as_gate(const ComparedResults& compared, const Results& a, const Results& b,
                   bool strict);

} // namespace kg::judge
