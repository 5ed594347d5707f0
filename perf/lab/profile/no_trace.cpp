// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// For a GPU build without CUPTI.
#include "perf/lab/profile/trace.h"

#include "runtime/error.h"

namespace kg::profile {

std::unique_ptr<Tracer> start_trace() {
  throw Error("this build cannot profile: CMake found no CUPTI; install it (cuda-cupti-dev) and "
              "configure anew");
}

} // namespace kg::profile
