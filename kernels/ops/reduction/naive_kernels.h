// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The naive reductions, which also serve as the second launch over partial results.
#pragma once

#include "ops/reduction/columns_kernels.h"
#include "primitives/block.h"

#include <cstdint>

namespace kg::reduction {

// One thread per result.
template <class F, class T, class Out>
__global__ void __launch_bounds__(kThreads) naive(F functor, const T* x, Columns shape, Out* out) {
  const std::int64_t result = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (result >= shape.outer * shape.inner) return;
  const std::int64_t o = result / shape.inner;
  const T* from = x + o * shape.outer_stride + (result - o * shape.inner);
  auto value = F::identity();
  for (std::int64_t a = 0; a < shape.axis; ++a)
    value = F::combine(value, functor.from(from[a * shape.axis_stride], a));
  out[result] = functor.template finish<Out>(value);
}

// One block per result; the inputs of successive results begin `leading` elements apart.
template <class F, class T, class Out>
__global__ void __launch_bounds__(kThreads)
    naive_block(F functor, const T* x, std::int64_t axis, std::int64_t axis_stride,
                std::int64_t leading, Out* out) {
  __shared__ typename F::Accumulator scratch[kThreads / kLanes];
  const T* from = x + blockIdx.x * leading;
  auto value = F::identity();
  for (std::int64_t a = threadIdx.x; a < axis; a += kThreads)
    value = F::combine(value, functor.from(from[a * axis_stride], a));
  value = block_reduce<F>(value, scratch);
  if (threadIdx.x == 0) out[blockIdx.x] = functor.template finish<Out>(value);
}

} // namespace kg::reduction
