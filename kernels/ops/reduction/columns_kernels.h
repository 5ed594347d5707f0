// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over an axis that is not the last: neighbouring threads take neighbouring results, so
// accesses coalesce.
#pragma once

#include "ops/reduction/target.h"
#include "primitives/pack.h"

#include <cstdint>

namespace kg::reduction {

inline constexpr int kColumnLoads = 4; // loads in flight per thread

// The input: x[o][a][i] is at o outer_stride + a axis_stride + i.
struct Columns {
  std::int64_t outer, axis, inner;
  std::int64_t outer_stride, axis_stride;
};

// A block is `width` packs of Count results wide, numbered across outer indices, and kThreads /
// width layers deep; both are powers of two. Each grid y reduces `piece` elements of the axis, one
// per layer at a time; then layers are combined in pairs. Count divides inner.
template <class F, class T, int Count, class Out>
__global__ void __launch_bounds__(kThreads)
    column_tiles(F functor, const T* x, Columns shape, int width, std::int64_t piece,
                 Target<F, Out> target) {
  using A = typename F::Accumulator;
  using Chunk = Pack<T, Count>;
  __shared__ A handed[Count][kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int layer = thread / width;
  const int layers = kThreads / width;
  const std::int64_t results = shape.outer * shape.inner;
  const std::int64_t result =
      (static_cast<std::int64_t>(blockIdx.x) * width + thread % width) * Count;
  A value[Count];
  KG_UNROLL
  for (int e = 0; e < Count; ++e) value[e] = F::identity();

  if (result < results) {
    const std::int64_t o = result / shape.inner;
    const T* from = x + o * shape.outer_stride + (result - o * shape.inner);
    const std::int64_t first = blockIdx.y * piece;
    const std::int64_t last = first + piece < shape.axis ? first + piece : shape.axis;
    const auto load = [&](std::int64_t a) {
      return *reinterpret_cast<const Chunk*>(from + a * shape.axis_stride);
    };
    const auto take = [&](const Chunk& pack, std::int64_t a) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        value[e] = F::combine(value[e], functor.from(pack.element[e], a));
    };
    std::int64_t a = first + layer;
    for (; a + (kColumnLoads - 1) * layers < last; a += kColumnLoads * layers) {
      Chunk pack[kColumnLoads];
      KG_UNROLL
      for (int l = 0; l < kColumnLoads; ++l) pack[l] = load(a + l * layers);
      KG_UNROLL
      for (int l = 0; l < kColumnLoads; ++l) take(pack[l], a + l * layers);
    }
    for (; a < last; a += layers) take(load(a), a);
  }

  // One barrier per round suffices: each round writes elements that no earlier round used.
  for (int half = layers / 2; half > 0; half /= 2) {
    if (layer >= half && layer < 2 * half) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e) handed[e][thread] = value[e];
    }
    __syncthreads();
    if (layer < half) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        value[e] = F::combine(value[e], handed[e][thread + half * width]);
    }
  }
  if (layer == 0 && result < results)
    target.template store<Count>(functor, blockIdx.y * results + result, value);
}

} // namespace kg::reduction
