// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/sampling.h"
#include "perf/measure/suite.h"
#include "runtime/stream.h"

#include <cstdint>

namespace kg::perf {

// The host's cost of one execution, without the execution of its kernels.
struct Enqueue {
  int launches = 0;        // kernels, copies and fills
  std::int64_t parses = 0; // shape texts parsed
  double ns = 0;           // host time: the minimum of several means
};

// Measures executions while they are captured into graphs, so that no kernel runs. The time
// includes the checks and records of each launch. Throws Error if an execution cannot be captured.
Enqueue enqueue_of(const Workload& workload, Stream& stream, const Clock& now);

} // namespace kg::perf
