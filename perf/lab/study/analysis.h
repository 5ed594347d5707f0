// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a study's times say about size: the cost of a launch, how time grows once the work
// dominates, and where one variant overtakes another. Pure.
#pragma once

#include "perf/judge/row.h"
#include "perf/judge/statistics.h"
#include "perf/lab/study/record.h"
#include "perf/lab/study/study.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kg::study {

// A variant's time at one size. Nanoseconds.
struct Timed {
  double size = 0;
  double ns = 0;
  judge::Interval ci_ns;
};

// One variant over the points of a group, in ascending size. At least one point.
struct Curve {
  std::string group;
  std::string variant;
  judge::Kind kind = judge::Kind::ours;
  std::vector<Timed> times;
  bool judged = true; // its exponent; libraries are informational if there are variants of ours
};

// The valid experiments by group and variant, in the order of the plan.
std::vector<Curve> curves(const Record& record);

// The overhead is the time at the smallest size, if the time hardly grows from there to the next
// size: by less than half as much as the work (the exponent between the two is below scaling / 2).
// Otherwise nothing: no size is small enough to show it.
struct Overhead {
  double ns = 0;
  // From this size on the work takes longer than the overhead: time is twice the overhead,
  // interpolated between sizes on logarithmic axes. Nothing if no size is that large.
  std::optional<double> until;
};
std::optional<Overhead> overhead(const Curve& curve, double exponent);

// The exponent p of time = c size^p by least squares on logarithms, over sizes whose time is at
// least ten times the overhead; a larger overhead would lower p. Nothing for fewer than three such
// sizes.
struct Fit {
  double exponent = 0;
  double reach = 0; // half of its 95 % interval
  double from = 0;  // the range of sizes
  double to = 0;
  std::size_t sizes = 0;
};
std::optional<Fit> fit(const Curve& curve, double exponent);

// -1: the first is significantly faster (their 99 % intervals do not overlap); +1: the second is;
// 0: the intervals overlap.
int slower(const Timed& first, const Timed& second);

// Two variants at one size.
struct Pair {
  Timed first;
  Timed second;
};

// The size at which the two variants' lines cross on logarithmic axes. One is significantly faster
// at `at`, the other at `then`, the larger size.
double crossing(const Pair& at, const Pair& then);

// `before` is faster up to about `size`, `after` from there on: where the lines cross between the
// last size at which one is significantly faster and the first at which the other is.
struct Crossover {
  std::string group;
  std::string before;
  std::string after;
  double size = 0;
};
std::vector<Crossover> crossovers(const std::vector<Curve>& curves);

// The expected exponent of a curve. Libraries are compiled for the machine they run on, so their
// interval must be within kShareOfTheory, unless the study's exponents are informational.
Scaling expected(const Study& study, const Curve& curve);

// Whether the exponent, or any part of its interval if that counts, is within the tolerance.
bool within(const Fit& fit, const Scaling& scaling);

// The exit code of the fits of all judged curves: 1 if one is farther from the study's exponent
// than its tolerance, else 0, or 77 if no fit was possible; nothing if exponents are informational.
std::optional<int> exit_of_fits(const Study& study, const std::vector<Curve>& curves);

} // namespace kg::study
