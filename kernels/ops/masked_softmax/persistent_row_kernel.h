// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Masked softmax of rows of at most 128 KiB by persistent blocks, as in
// ops/softmax/persistent_row_kernel.h. Rows of x and of the mask have a pipeline each
// (primitives/row_pipeline.h); elements hidden by a causal mask are not loaded. Per element one
// read, one write and one byte of the mask. Rows beyond 64 KiB have a single stage. Expected on an
// H200: 80 to 90 % of copy bandwidth.
#pragma once

#include "ops/masked_softmax/row_access.h"
#include "primitives/largest.h"
#include "primitives/row_pipeline.h"
#include "primitives/unpack_pairs.h"

#include <limits>

namespace kg::masked_softmax {

// The pipeline with two stages, or with one, that also holds the mask: one byte per element of x.
// shared_bytes is 0 if neither fits.
inline RowPipelineShape pipeline_shape(Form form, std::int64_t rows, std::int64_t cols,
                                       std::size_t element) {
  const auto masks = [&](std::int64_t bytes) {
    return form == Form::boolean ? bytes / static_cast<std::int64_t>(element) : 0;
  };
  const RowPipelineShape two =
      row_pipeline_shape(rows, cols, element, kRowStages * masks(stage_bytes(cols, element)));
  if (two.shared_bytes > 0) return two;
  return single_stage_shape(rows, cols, element, masks(single_stage_bytes(cols, element)));
}

template <Form form, class T, int Count, int Packs, int Stages>
__global__ void __launch_bounds__(Stages == 1 ? kMaxBlockThreads : row_pipeline_threads(Packs),
                                  Stages == 1 ? 1 : row_pipeline_blocks(Packs))
    block_in_ring(Problem<T> problem) {
  constexpr bool kHasMask = form == Form::boolean;
  float* const scratch = dynamic_shared<float>();
  PipelineReductions of_block(scratch);
  T* const stages = reinterpret_cast<T*>(scratch + kRowPipelineScratch / sizeof(float));
  const int cols = static_cast<int>(problem.cols);
  RowPipeline<T, Count, Packs, Stages> pipeline(stages, cols, from_float<T>(kMasked));
  // Without a mask: rows of unlimited length, so that no pack is padded.
  RowPipeline<std::uint8_t, Count, Packs, Stages> masks(
      reinterpret_cast<std::uint8_t*>(stages +
                                      Stages * Packs * static_cast<int>(blockDim.x) * Count),
      kHasMask ? cols : std::numeric_limits<int>::max(), 0);
  const auto prefetch = [&](std::int64_t index) __attribute__((always_inline)) {
    const bool exists = index < problem.rows;
    const Row<T> row = problem.template row<form>(exists ? index : 0);
    pipeline.prefetch(row.x, exists ? static_cast<int>(row.kept) : 0);
    if constexpr (kHasMask) masks.prefetch(row.keep, exists ? cols : 0);
    ptx::cp_async_commit();
  };

  prefetch(blockIdx.x);
  KG_ROLLED
  for (std::int64_t index = blockIdx.x; index < problem.rows; index += gridDim.x) {
    if constexpr (Stages > 1) prefetch(index + gridDim.x);
    ptx::cp_async_wait_group<Stages - 1>();
    const Row<T> row = problem.template row<form>(index);
    const int kept = static_cast<int>(row.kept);
    StoredPack<T, Count> held[Packs];
    pipeline.template read<kHasMask>(held, kept, from_float<T>(kMasked));
    if constexpr (kHasMask) {
      StoredPack<std::uint8_t, Count> keep[Packs];
      masks.read(keep, cols, 0);
      KG_UNROLL
      for (int p = 0; p < Packs; ++p)
        held[p] = MaskedPack<form, T, Count>{held[p], keep[p]}.masked();
    }
    if constexpr (Stages == 1) prefetch(index + gridDim.x);
    // Packs hidden by a causal mask are skipped.
    const auto is_hidden = [&](int p) __attribute__((always_inline)) {
      return form == Form::causal && pipeline.number(p) * Count >= kept;
    };

    float largest = kMasked; // fmaxf ignores NaN; the sum propagates it
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (is_hidden(p)) continue;
      largest = greatest(held[p], largest);
    }
    largest = warp_max(largest);
    float sum = 0;
    const float of_warp = reference_of(largest, problem.scale);
    loaded(held); // converted again in each pass: as f32 the row would take all registers
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (is_hidden(p)) continue;
      const Floats<Count> values = unpack_pairs(held[p]);
      KG_UNROLL
      for (int e = 0; e < Count; ++e) sum += term<T>(values.value[e], problem.scale, of_warp);
    }
    sum = warp_sum(sum);
    of_block.exchange(largest, sum, kMasked);
    const float of_row = warp_max(largest);
    const float reference = reference_of(of_row, problem.scale);
    // A warp whose part is fully masked has a sum of 0 or NaN and does not affect the reference.
    const float share =
        largest == kMasked ? 0.0f : expf(reference_of(largest, problem.scale) - reference);
    const float by = normalizer(warp_sum(sum * share), of_row) * kExpUnit<T>;

    // 0, or NaN if the scaled maximum overflows f32.
    const T hidden = from_float<T>(in_units<T>(kMasked, problem.scale, reference) * by);
    loaded(held);
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      Pack<T, Count> result;
      Floats<Count> values = unpack_pairs(held[p]);
      if (is_hidden(p)) {
        KG_UNROLL
        for (int e = 0; e < Count; ++e) result.element[e] = hidden;
      } else {
        KG_UNROLL
        for (int e = 0; e < Count; ++e)
          values.value[e] = in_units<T>(values.value[e], problem.scale, reference) * by;
        KG_UNROLL
        for (int e = 0; e < Count; ++e) result.element[e] = from_float<T>(values.value[e]);
      }
      held[p].set(result);
    }
    pipeline.store(held, row.y);
  }
  ptx::cp_async_wait_all();
}

} // namespace kg::masked_softmax
