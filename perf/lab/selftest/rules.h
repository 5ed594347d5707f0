// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules by which other tools call a benchmark slower, to compare their error rates with ours.
// Each is a pure function of the samples that our gate judges, implemented from the description
// cited at the rule. Clocks, which we do not vary, are left out.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace kg::selftest {

enum class Call { same, slower, faster, undecided };

// In ns: the samples of each new process, for the reference (a) and what is compared with it (b).
// Rules for a single process use the first of each.
using Processes = std::vector<std::vector<double>>;

struct Rule {
  std::string_view name;  // as in calibration.csv
  std::string_view title; // as in tables
  std::size_t processes;  // how many of each are needed
  Call (*decide)(const Processes& a, const Processes& b);
};

// All of them, in the order of tables.
std::span<const Rule> rivals();

// nvbench-compare-legacy: the means differ by more than the smaller of the two relative standard
// deviations, as a fraction of the reference's mean (NVBench, scripts/nvbench_compare.py).
Call nvbench_legacy(const Processes& a, const Processes& b);

// nvbench-compare-robust with its default of 0.5 %: different if the intervals [min, q3] are that
// far apart; same if every sample has a neighbour in the other run (97 % of samples and 80 % of
// distinct values within 0.5 %); else undecided (NVBench, docs/nvbench_compare_robust.md).
// Quartiles are the samples of rank round(p (n - 1)).
Call nvbench_robust(const Processes& a, const Processes& b);

// Google Benchmark's compare.py: Mann-Whitney U test, two-sided, p < 0.05.
Call mann_whitney_5(const Processes& a, const Processes& b);

// b's median above a's by more than 5 % or 10 %.
Call fixed_5(const Processes& a, const Processes& b);
Call fixed_10(const Processes& a, const Processes& b);

// oneDNN's CI until 2025: Student's t with pooled variance on the times of five processes each,
// one-sided p <= 0.05 (.github/automation/performance/benchdnn_comparison.py). Later versions also
// require 10 % between the medians or between the minima.
Call onednn_t(const Processes& a, const Processes& b);
Call onednn_t_10(const Processes& a, const Processes& b);

// The two-sided p of the Mann-Whitney U test by normal approximation, with mean ranks for ties,
// tie-corrected variance and continuity correction 1/2 (Lehmann, Nonparametrics, 1975, section 1.4;
// called asymptotic in scipy.stats.mannwhitneyu). 1 if all values are equal. `u` counts the pairs
// in which b is greater, ties as halves.
struct MannWhitney {
  double u = 0;
  double p = 1;
};
MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b);

// P(T >= t) for t = (mean b - mean a) / its standard error, variances pooled; dof = n + m - 2. 0.5
// if the means are equal; 0 or 1 if only the variances vanish.
double pooled_t_greater(std::span<const double> a, std::span<const double> b);

} // namespace kg::selftest
