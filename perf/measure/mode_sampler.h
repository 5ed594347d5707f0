// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What each mode times of a workload.
#pragma once

#include "perf/measure/measure.h"

#include <functional>
#include <vector>

namespace kg::perf {

struct ModeSampler {
  std::function<std::vector<double>()> sample; // ns per execution
  int batch = 1;                               // executions per sample
  // Checks what only this mode leaves behind; throws Error. May be empty.
  std::function<void()> finish = {};
};

// Runs the workload to find out how it must be sampled. Workload and apparatus outlive what this
// returns. Throws NotCapturable.
ModeSampler mode_sampler(const Workload& workload, Mode mode, Apparatus& apparatus);

} // namespace kg::perf
