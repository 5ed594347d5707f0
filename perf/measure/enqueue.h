// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/sampling.h"
#include "perf/measure/suite.h"
#include "runtime/stream.h"

#include <cstdint>

namespace kg::perf {

// What one execution takes its caller, apart from what its kernels do.
struct Enqueue {
  int launches = 0;        // kernels, copies and fills
  std::int64_t parses = 0; // of texts of shapes
  double ns = 0;           // the least of several means
};

// Executions are captured into graphs, in which neither backend runs a kernel; so each launch's
// checks and its record are in the time. Throws Error where an execution cannot be captured.
Enqueue enqueue_of(const Workload& workload, Stream& stream, const Clock& now);

} // namespace kg::perf
