// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides whether build B is slower than build A, from pairs of fresh processes run side by side.
// This is the only judgement that may fail a row over a few percent, because it does not depend on
// the speed of the machine. Pure; perf/measure/ab runs the processes.
//
// The statistic is d = ln(B / A) of each pair. Two tests bound d from below and above, each with
// error probability `alpha`: the sign test, which needs no assumption about the distribution and
// tolerates outliers, and Student's t on the trimmed mean, which detects smaller changes. The
// tighter bound counts, so one look errs with probability at most 2 alpha and both looks with at
// most 4 alpha = 0.1 %. That is the worst case, a row slower by exactly its tolerance; for an
// unchanged row the probability is far smaller. Stopping after the first look spends half of it.
//
//   regressed     the lower bound of d exceeds ln(1 + tolerance)
//   improved      the lower bound of -d exceeds ln(1.03)
//   pass          the upper bound of d is below ln(1 + tolerance); or d's median is below half of
//                 the tolerance and the upper bound at 2.5 % per test is below the tolerance (a row
//                 slower than its tolerance passes this way with at most 10 % probability)
//   env           the bounds of ln(control / A) exclude every value within half of the tolerance:
//                 two copies of one build differ, so the machine is unsuitable
//   inconclusive  otherwise
#pragma once

#include "perf/judge/statistics.h"
#include "perf/judge/verdict.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kg::judge {

// The times of one row in ns: medians of fresh processes. Element i of each array comes from round
// i, in which the three builds ran one after another in random order. A is the reference build, B
// the build under test, and `control` a second copy of A, which differs from A by chance alone.
struct PairedTimes {
  std::vector<double> a_ns;
  std::vector<double> b_ns;
  std::vector<double> control_ns;
};

// Exactly two looks at the data, fixed in advance; each look spends `alpha` once per test, so more
// looks would raise the error rate. The first suits interleaved pairs, most of which scatter by one
// or two percent; the second suits noisier ones.
struct ConfirmRule {
  double tol_pct = 2;          // the tolerated slow-down, in percent of A's time
  std::size_t first_look = 12; // the fewest pairs that suffice for a sign test: 2^-12 < alpha
  std::size_t second_look = 40;
  double alpha = 0.00025;
};

// The rule for one of `rows` rows that one run confirms. With more than ten rows, alpha is divided
// so that the total error probability stays that of ten.
ConfirmRule confirm_rule(double tol_pct, std::size_t rows);

struct Confirmation {
  bool more = false;                       // undecided at the first look: run the second
  Verdict verdict = Verdict::inconclusive; // pass, improved, regressed, inconclusive, env
  double ratio = 0;                        // A / B; below 1 means that B is slower
  Interval ratio_interval;                 // from the deciding bounds
  // The slow-down that these pairs would detect with probability kPower.
  double detectable_pct = 0;
  std::size_t pairs = 0;
  std::string reason; // one sentence with the figures
};

// With fewer pairs than rule.second_look this is the first look. Throws kg::Error unless A, B and
// control have the same number of times, at least rule.first_look, all positive and finite.
Confirmation confirm(const PairedTimes& times, const ConfirmRule& rule);

} // namespace kg::judge
