// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the training time of an mlp scales: linearly with steps, layers and batch, and quadratically
// with dim if GEMMs dominate.
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

// as_expected: the exponent is within 5 % of the theory. unlike: its interval lies outside that
// range. undecided: its interval overlaps the range; the times scatter too much to decide.
enum class Growth { as_expected, undecided, unlike };
Growth judge(const PowerFit& fit, double theory);

struct Scaled {
  std::string what; // "dim"
  double theory = 0;
  std::vector<double> factors;
  std::vector<double> ns; // of all steps
  PowerFit fit;
};

// Scales each of the four parameters by 1 to `most`, with the others as in `base`. `time` returns
// the nanoseconds of one training.
using TimeOf = std::function<double(const ScalingBase&)>;
std::vector<Scaled> scale(const ScalingBase& base, int most, const TimeOf& time);

// The minimum over `runs` trainings, after one warm-up step. Other load only adds time.
double time_of_training(const ScalingBase& what, int runs);

std::string text(const std::vector<Scaled>& all);
int exit_code(
    const std::vector<Scaled>& all); // 1 if any is unlike, else 77 if any is undecided, else 0

} // namespace kg::perf
