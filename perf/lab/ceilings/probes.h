// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that do one thing as fast as the device can: what they reach is what others are divided
// by. Each is sized by the device, and checked for its result like any timed row.
#pragma once

#include "perf/measure/suite.h"

#include <functional>
#include <string>
#include <vector>

namespace kg::perf {

struct Probe {
  std::string name;  // of the rate: "copy_bytes_per_s"
  Kind kind;         // the canary that it is timed beside
  double amount = 0; // bytes or operations of one execution
  std::function<Workload()> make;
};

// Reading, writing, copying (1 : 1) and adding (2 : 1) far more than the L2 holds. The rates of a
// memory differ by the mix: on an H100, writing is 10 % faster than reading. And reading what lies
// in the L2.
std::vector<Probe> stream_probes();

// Multiply-adds of f32 in registers, and matrix instructions (mma.sync) of the types that the
// device has, on constant data. Newer instructions than mma.sync are faster where there are any.
std::vector<Probe> arithmetic_probes();

// The vendor's product of large matrices of random numbers: zeros take less power than data, and
// the clock falls with power, so that no product of numbers reaches the rate of zeros. Of a GPU
// alone: on the host the vendor's threads would be compared with an executor.
std::vector<Probe> product_probes();

} // namespace kg::perf
