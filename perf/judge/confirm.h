// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether B is slower than A, from pairs of fresh processes measured side by side: the only
// judgement that may call a row regressed by a few percent, since it alone does not depend on how
// fast the machine happens to be. Pure; perf/ab runs the processes.
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

// Exactly two looks, fixed beforehand: more would raise the error rate beyond `alpha`, which each
// look spends once for each of its two tests (sign and paired t).
struct ConfirmRule {
  double tol_pct = 2; // the slow-down that is still no regression, in percent of A's time
  std::size_t first_look = 20;
  std::size_t second_look = 40;
  double alpha = 0.00025;
};

struct Confirmation {
  bool more = false;                       // undecided at the first look: measure up to the second
  Verdict verdict = Verdict::inconclusive; // pass, improved, regressed, inconclusive, env
  double ratio = 0;                        // A / B: below 1 is slower, as everywhere
  Interval ratio_interval;
  double detectable_pct =
      0; // the slow-down that this many pairs, this noisy, would find 9 in 10 times
  std::size_t pairs = 0;
  std::string reason; // with the figures
};

// Throws kg::Error unless there are as many of A, B and control, at least rule.first_look, all
// positive and finite.
Confirmation confirm(const PairedTimes& times, const ConfirmRule& rule);

} // namespace kg::judge
