// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the time of an mlp's training grows: with steps, layers and batch linearly and with dim
// quadratically, where its products take the time.
#pragma once

#include "models/model.h"
#include "perf/judge/power_fit.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kg::perf {

struct ScalingBase {
  models::MlpConfig mlp;
  std::int64_t steps = 2;
};

using judge::fit_power;
using judge::PowerFit;

// as_expected: the exponent is within 5 % of the theory. unlike: its interval lies outside of that.
// undecided: it reaches in; times that scatter so decide nothing.
enum class Growth { as_expected, undecided, unlike };
Growth judge(const PowerFit& fit, double theory);

struct Scaled {
  std::string what; // "dim"
  double theory = 0;
  std::vector<double> factors;
  std::vector<double> ns; // of all steps together
  PowerFit fit;
};

// Each of the four scaled by 1 to `most`, the others as in `base`. `time` gives the nanoseconds of
// one training.
using TimeOf = std::function<double(const ScalingBase&)>;
std::vector<Scaled> scale(const ScalingBase& base, int most, const TimeOf& time);

// The least of `runs` trainings, after a step that warms up: what else a machine does only adds.
double time_of_training(const ScalingBase& what, int runs);

std::string text(const std::vector<Scaled>& all);
int exit_code(
    const std::vector<Scaled>& all); // 1: one is unlike; else 77: one is undecided; else 0

} // namespace kg::perf
