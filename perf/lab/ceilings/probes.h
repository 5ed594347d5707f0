// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that each do one thing as fast as the device can: their rates are the reference for all
// others. Each is sized for the device, and its result is checked like any timed row's.
#pragma once

#include "perf/measure/suite.h"

#include <functional>
#include <string>
#include <vector>

namespace kg::perf {

struct Probe {
  std::string name;  // of the rate: "copy_bytes_per_s"
  Bound kind;        // the canary timed next to it
  double amount = 0; // bytes or operations of one execution
  std::function<Workload()> make;
};

// Reading, writing, copying (1 : 1) and adding (2 : 1) far more data than the L2 holds. Memory
// bandwidth depends on the mix: on an H100, writing is 10 % faster than reading. Also reading data
// that fits in the L2.
std::vector<Probe> stream_probes();

// FMAs of f32 in registers, and MMA instructions (mma.sync) of the types that the device supports,
// on constant data. Newer instructions than mma.sync are faster where available.
std::vector<Probe> arithmetic_probes();

// The vendor's GEMM of large random matrices. Zeros take less power than random data, and the clock
// drops with power, so no GEMM of real numbers reaches the rate of zeros. Only on a GPU: on the
// host, the vendor's threads would be compared with an executor.
std::vector<Probe> product_probes();

} // namespace kg::perf
