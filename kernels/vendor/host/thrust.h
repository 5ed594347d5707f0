// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Thrust on the CPU, with its TBB back end (THRUST_HOST_SYSTEM=CPP, THRUST_DEVICE_SYSTEM=TBB,
// target Thrust::Host), so thrust::device is the CPU's worker threads: it shares the pool with
// whatever else uses oneTBB, and needs no OpenMP runtime beside the one that oneDNN brings. Sums
// over short runs use thrust::seq inside a worker.
#pragma once

#include <cstdint>

#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace kg::vendor::thrust_host {

using Index = thrust::counting_iterator<std::int64_t>;

// Where element i of a walk over the rows of a matrix lies when its rows are `leading` apart.
struct AlongRows {
  std::int64_t cols, leading;
  std::int64_t operator()(std::int64_t i) const { return i / cols * leading + i % cols; }
};

// Where the same element lies in the transposed matrix.
struct AlongColumns {
  std::int64_t cols, leading;
  std::int64_t operator()(std::int64_t i) const { return i % cols * leading + i / cols; }
};

} // namespace kg::vendor::thrust_host
