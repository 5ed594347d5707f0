// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax of rows of at most 64 KiB by blocks that stay: each takes a row after the other through a
// ring in shared memory (primitives/row_pipeline.h) into its registers, one read and one write per
// element.
//
// The largest element of a warp's part is the reference of its exponentials, so that the block
// meets once for a row. An exponential is taken twice, for the sum and for the result, in two
// instructions where results have 16 bits (primitives/exponential.h): 13 in all for each element,
// of 32 that an H200 issues in its share of a copy's time. Expected there: 88 to 92 % of a copy's
// rate. Why blocks that stay: a block for each row loads nothing while it computes, and so few rows
// of 8 KiB and more are resident that memory waits; measured, 0.60 of a copy. Why
// not a cluster for a row: measured, that took 1.2 to 1.6 times as long as one block.
#pragma once

#include "ops/softmax/row_access.h"
#include "primitives/row_pipeline.h"

#include <cfloat>

namespace kg::softmax {

template <Kind kind, class T, int Count, int Packs>
__global__ void __launch_bounds__(ring_threads(Packs), ring_blocks(Packs))
    block_in_ring(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride, std::int64_t rows,
                  std::int64_t cols) {
  float* const scratch = dynamic_shared<float>();
  RingReductions of_block(scratch);
  RowRing<T, Count, Packs> ring(reinterpret_cast<T*>(scratch + kRingScratch / sizeof(float)),
                                static_cast<int>(cols), from_float<T>(kPadding));
  const int present = static_cast<int>(cols);
  ring.ask(x + blockIdx.x * x_stride, present);
  ptx::cp_async_commit();
  KG_ROLLED
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t next = row + gridDim.x;
    ring.ask(x + next * x_stride, next < rows ? present : 0);
    ptx::cp_async_commit();
    ptx::cp_async_wait_group<kRingPlaces - 1>();
    StoredPack<T, Count> held[Packs];
    ring.take(held, present, from_float<T>(kPadding));

    float maximum = kPadding; // fmaxf passes over NaN; the sum does not
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) maximum = largest(widened(held[p]), maximum);
    // Finite: -inf minus it is -inf.
    float reference = fmaxf(warp_max(maximum), -FLT_MAX);
    float sum = 0;
    loaded(held); // converted anew each time: as f32 the row would take all registers
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      const Floats<Count> values = widened(held[p]);
      KG_UNROLL
      for (int e = 0; e < Count; ++e) sum += exp_of_sum<T>(values.value[e] - reference);
    }
    sum = warp_sum(sum);
    of_block.exchange(reference, sum, -FLT_MAX);
    const float of_row = warp_max(reference);
    const float by = normalizer<kind, T>(warp_sum(sum * expf(reference - of_row)));

    loaded(held);
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) held[p].set(finished<kind, T>(widened(held[p]), of_row, by));
    ring.give(held, y + row * y_stride);
  }
  ptx::cp_async_wait_all();
}

} // namespace kg::softmax
