// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether B is slower than A, from pairs of fresh processes measured side by side: the only
// judgement that may call a row regressed by a few percent, since it alone does not depend on how
// fast the machine happens to be. Pure; perf/measure/ab runs the processes.
//
// It looks at d = ln(B / A) of each pair. Two tests, each with probability `alpha` of error, bound
// d from below and from above: the sign test, which holds for every distribution of d and survives
// wild processes, and Student's t on the trimmed mean, which finds smaller changes. The bound is
// the tighter of the two, so a look errs with at most 2 alpha, and the two looks with at most
// 4 alpha = 0.1 %: so often, at most, is a row called regressed that is slower by exactly the
// tolerance, and far more seldom one that has not changed. Where `more` is heeded or not changes
// nothing in that bound: whoever stops at the first look has spent half of it.
//
//   regressed     the lower bound of d exceeds ln(1 + tolerance)
//   improved      the lower bound of -d exceeds ln(1.03)
//   pass          the upper bound of d is below ln(1 + tolerance), or d's median is below
//                 half of the tolerance and the upper bound at 2.5 % per test is below all of it
//                 (a row slower by more than the tolerance passes for that in at most 10 %)
//   env           control / A is not null: its bounds exclude all within half of the tolerance. So
//                 what makes two copies of one build differ can forge no more than that half
//   inconclusive  otherwise
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/statistics.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kg::judge {

// What one row took, in ns: the medians of fresh processes, element i of each from round i, in
// which the three ran one after another in a random order. A is the reference build, B the one
// under test, `control` a second copy of A, which can differ from A by nothing but chance.
struct PairedTimes {
  std::vector<double> a_ns;
  std::vector<double> b_ns;
  std::vector<double> control_ns;
};

// Exactly two looks, fixed beforehand. The first suits pairs that took turns, most of which scatter
// by one or two percent; the second, others. More would raise the error rate beyond `alpha`, which
// each look spends once for each of its two tests (sign and paired t).
struct ConfirmRule {
  double tol_pct = 2;          // the slow-down that is still no regression, in percent of A's time
  std::size_t first_look = 12; // the fewest with which a sign test can be that sure: 2^-12 < alpha
  std::size_t second_look = 40;
  double alpha = 0.00025;
};

// The rule for one of `rows` rows that are confirmed in one run: of more than ten rows, all share
// the chance of error that ten would have.
ConfirmRule confirm_rule(double tol_pct, std::size_t rows);

struct Confirmation {
  bool more = false;                       // undecided at the first look: measure up to the second
  Verdict verdict = Verdict::inconclusive; // pass, improved, regressed, inconclusive, env
  double ratio = 0;                        // A / B: below 1 is slower, as everywhere
  Interval ratio_interval;                 // between the bounds that decided
  // The slow-down that this many pairs, this noisy, would find 9 in 10 times.
  double detectable_pct = 0;
  std::size_t pairs = 0;
  std::string reason; // with the figures
};

// A look with fewer pairs than rule.second_look is the first. Throws kg::Error unless there are as
// many of A, B and control, at least rule.first_look, all positive and finite.
Confirmation confirm(const PairedTimes& times, const ConfirmRule& rule);

} // namespace kg::judge
