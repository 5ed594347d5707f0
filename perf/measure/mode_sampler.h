// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sampler of each mode: the part of a workload's execution that the mode times.
#pragma once

#include "perf/measure/measure.h"

#include <functional>
#include <vector>

namespace kg::perf {

struct ModeSampler {
  std::function<std::vector<double>()> sample; // ns per execution
  int batch = 1;                               // executions per sample
  // Verifies results that only this mode produces; throws Error. May be empty.
  std::function<void()> finish = {};
};

// Runs the workload to choose the batch. Workload and apparatus must outlive the result. Throws
// NotCapturable.
ModeSampler mode_sampler(const Workload& workload, Mode mode, Apparatus& apparatus);

} // namespace kg::perf
