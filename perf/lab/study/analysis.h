// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the times of a study say about size: what a launch costs, how time grows where the work
// counts, and where one variant overtakes another. Pure.
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

// One variant over the points of one group, ascending in size. At least one.
struct Curve {
  std::string group;
  std::string variant;
  judge::Kind kind = judge::Kind::ours;
  std::vector<Timed> times;
  bool judged = true; // its exponent: where there are any of ours, a library's informs
};

// The valid experiments, by group and variant in the order of the plan.
std::vector<Curve> curves(const Record& record);

// The overhead is the time at the smallest size, where the time hardly grows from there to the next
// size: by less than half of what the work does (the exponent between the two is below
// scaling / 2). Nothing otherwise: then no size is small enough to see it.
struct Overhead {
  double ns = 0;
  // From this size on the work takes longer than the overhead: time is twice the overhead,
  // interpolated between sizes on logarithmic axes. Nothing where no size is that large.
  std::optional<double> until;
};
std::optional<Overhead> overhead(const Curve& curve, double exponent);

// The exponent p of time = c size^p by least squares on logarithms, over the sizes whose time is at
// least ten times the overhead: with more of it p would come out lower. Nothing of fewer than three
// such sizes.
struct Fit {
  double exponent = 0;
  double reach = 0; // half of its 95 % interval
  double from = 0;  // the sizes
  double to = 0;
  std::size_t sizes = 0;
};
std::optional<Fit> fit(const Curve& curve, double exponent);

// -1: the first is surely the faster (their 99 % intervals lie apart); +1: the second is; 0: the
// intervals overlap.
int slower(const Timed& first, const Timed& second);

// Two variants at one size.
struct Pair {
  Timed first;
  Timed second;
};

// The size at which the lines of the two variants cross on logarithmic axes. One is surely the
// faster at `at`, the other at `then`, which is the greater size.
double crossing(const Pair& at, const Pair& then);

// `before` is the faster up to about `size`, `after` from there on: where the lines between the
// last size at which the one is surely faster and the first at which the other is cross.
struct Crossover {
  std::string group;
  std::string before;
  std::string after;
  double size = 0;
};
std::vector<Crossover> crossovers(const std::vector<Curve>& curves);

// What is expected of a curve's exponent. A library's, which is compiled for where it runs, is held
// to kShareOfTheory by its interval, where the study tolerates anything.
Scaling expected(const Study& study, const Curve& curve);

// Whether the exponent, or where the interval counts a part of that, is within the tolerance.
bool within(const Fit& fit, const Scaling& scaling);

// The exit code of the fits, of the curves that are judged: 1 where one is farther from the study's
// exponent than its tolerance, else 0, or 77 where none could be made; nothing where the study
// tolerates anything.
std::optional<int> exit_of_fits(const Study& study, const std::vector<Curve>& curves);

} // namespace kg::study
