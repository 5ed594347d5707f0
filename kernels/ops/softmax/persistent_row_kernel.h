// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax of rows of at most 64 KiB. Persistent blocks stream rows through shared memory
// (primitives/row_pipeline.h) into registers: one read and one write per element.
//
// Each warp uses the maximum of its own part as reference, so that one block-wide exchange per row
// suffices. Exponentials are computed twice, for the sum and for the result. For 16-bit results
// each takes two instructions (primitives/exponential.h), 13 in total per element; an H200 issues
// 32 in the time a copy takes per element. Expected there: 88 to 92 % of copy bandwidth.
//
// Why not one block per row: such a block loads nothing while it computes, and too few rows of 8
// KiB or more are resident to hide that; measured, 0.60 of a copy. Why not a cluster per row:
// measured, 1.2 to 1.6 times the time of one block.
#pragma once

#include "ops/softmax/row_access.h"
#include "primitives/row_pipeline.h"

#include <cfloat>

namespace kg::softmax {

template <Kind kind, class T, int Count, int Packs>
__global__ void __launch_bounds__(row_pipeline_threads(Packs), row_pipeline_blocks(Packs))
    block_in_ring(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride, std::int64_t rows,
                  std::int64_t cols) {
  float* const scratch = dynamic_shared<float>();
  PipelineReductions of_block(scratch);
  RowPipeline<T, Count, Packs> pipeline(
      reinterpret_cast<T*>(scratch + kRowPipelineScratch / sizeof(float)), static_cast<int>(cols),
      from_float<T>(kPadding));
  const int present = static_cast<int>(cols);
  pipeline.prefetch(x + blockIdx.x * x_stride, present);
  ptx::cp_async_commit();
  KG_ROLLED
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t next = row + gridDim.x;
    pipeline.prefetch(x + next * x_stride, next < rows ? present : 0);
    ptx::cp_async_commit();
    ptx::cp_async_wait_group<kRowStages - 1>();
    StoredPack<T, Count> held[Packs];
    pipeline.read(held, present, from_float<T>(kPadding));

    float maximum = kPadding; // fmaxf ignores NaN; the sum propagates it
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) maximum = largest(widened(held[p]), maximum);
    // Finite, so that -inf - reference is -inf.
    float reference = fmaxf(warp_max(maximum), -FLT_MAX);
    float sum = 0;
    loaded(held); // converted again in each pass: as f32 the row would take all registers
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
    pipeline.store(held, y + row * y_stride);
  }
  ptx::cp_async_wait_all();
}

} // namespace kg::softmax
