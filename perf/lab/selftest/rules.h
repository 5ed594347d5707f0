// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules by which other tools call a benchmark slower, each as a pure function of the same
// samples that our gate's verdicts come from, so that their error rates can be put beside ours.
// They are written from the descriptions named at each; clocks, which we do not vary, are left out.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace kg::selftest {

enum class Call { same, slower, faster, undecided };

// In ns: the samples of each fresh process, of the reference (a) and of what is compared with it
// (b). Rules that know of one process look at the first of each.
using Processes = std::vector<std::vector<double>>;

struct Rule {
  std::string_view name;  // as in calibration.csv
  std::string_view title; // as in tables
  std::size_t processes;  // how many of each it needs
  Call (*decide)(const Processes& a, const Processes& b);
};

// All of them, in the order of tables.
std::span<const Rule> rivals();

// nvbench-compare-legacy: the means differ by more than the smaller of the two relative standard
// deviations, as a share of the reference's mean (NVBench, scripts/nvbench_compare.py).
Call nvbench_legacy(const Processes& a, const Processes& b);

// nvbench-compare-robust with its default 0.5 %: the intervals [min, q3] lie apart by that much, or
// every sample has a neighbour in the other run (97 % of samples and 80 % of distinct values within
// 0.5 %), or it is undecided (NVBench, docs/nvbench_compare_robust.md). Quartiles are the samples
// of rank round(p (n - 1)).
Call nvbench_robust(const Processes& a, const Processes& b);

// Google Benchmark's compare.py: Mann and Whitney's U, two-sided, p < 0.05.
Call mann_whitney_5(const Processes& a, const Processes& b);

// b's median above a's by more than 5 % or 10 %.
Call fixed_5(const Processes& a, const Processes& b);
Call fixed_10(const Processes& a, const Processes& b);

// oneDNN's CI until 2025: Student's t with pooled variance on the times of five processes each,
// one-sided p <= 0.05 (.github/automation/performance/benchdnn_comparison.py). Since then it also
// asks for 10 % between the medians or between the least times.
Call onednn_t(const Processes& a, const Processes& b);
Call onednn_t_10(const Processes& a, const Processes& b);

// The two-sided p of Mann and Whitney's U by the normal approximation, with the mean rank for ties,
// the variance corrected for them and 1/2 for continuity (Lehmann, Nonparametrics, 1975, section
// 1.4; what scipy.stats.mannwhitneyu calls asymptotic). 1 where all values are equal. `u` counts
// the pairs in which b is the greater, ties as halves.
struct MannWhitney {
  double u = 0;
  double p = 1;
};
MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b);

// P(T >= t) for t = (mean b - mean a) / its standard error, variances pooled; dof = n + m - 2.
// 0.5 where the means are equal, 0 or 1 where only the variances vanish.
double pooled_t_greater(std::span<const double> a, std::span<const double> b);

} // namespace kg::selftest
