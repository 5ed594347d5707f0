// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm and layernorm of rows of at most 128 KiB. Persistent blocks stream rows through shared
// memory (primitives/row_pipeline.h) into registers: one read and one write per element. gamma and
// beta, or gamma alone, stay in shared memory if they fit. Rows beyond 64 KiB have a single stage.
//
// Measured on an H200: 88 to 95 % of copy bandwidth with gamma and beta in shared memory. layernorm
// of 64 KiB rows in bf16 reached 79 % while both came from L2 for each row, and 87 % with gamma in
// shared memory. Prefetching beta one pack ahead is not measured yet.
//
// Why not one block per row: such a block loads nothing while it computes, and too few rows of 16
// KiB or more are resident to hide that; measured, 0.61 to 0.74 of a copy for 16 KiB and 0.46 to
// 0.65 for 64 KiB. Why not a cluster per row: measured, not faster.
#pragma once

#include "ops/normalization/forward_kernels.h"
#include "primitives/row_pipeline.h"

#include <algorithm>

namespace kg::normalization {

// The thread's packs of the row that has arrived, as a part (row_parts.h).
template <class T, int Count, int Packs, int Stages>
class PipelinePart {
  using Pipeline = RowPipeline<T, Count, Packs, Stages>;

 public:
  static constexpr int kCount = Count;
  static constexpr bool kInWholePacks = true;

  __device__ PipelinePart(Pipeline& pipeline, int cols) : pipeline_(pipeline) {
    pipeline.read(held_, cols, from_float<T>(0));
  }

  template <class Use>
  __device__ __forceinline__ void each(Use use) {
    loaded(held_); // converted again in each pass: as f32 the row would take all registers
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) use(pipeline_.number(p), unpack_pairs(held_[p]));
  }

  // Loads several packs by `load` before using the first, and with enough registers the following
  // ones too: an L2 hit takes as long as the arithmetic of a pack.
  template <class Load, class Change>
  __device__ __forceinline__ void store(T* to, Load load, Change change) {
    using With = decltype(load(0));
    const auto prefetch = [&](With(&with)[kTogether], int first) __attribute__((always_inline)) {
      KG_UNROLL
      for (int p = 0; p < kTogether; ++p) with[p] = load(pipeline_.number_in_row(first + p));
    };
    loaded(held_);
    With next[kTogether];
    if constexpr (kAhead) prefetch(next, 0);
    KG_UNROLL
    for (int first = 0; first < Packs; first += kTogether) {
      With with[kTogether];
      if constexpr (kAhead) {
        KG_UNROLL
        for (int p = 0; p < kTogether; ++p) with[p] = next[p];
        if (first + kTogether < Packs) prefetch(next, first + kTogether);
      } else {
        prefetch(with, first);
      }
      loaded(with);
      KG_UNROLL
      for (int p = 0; p < kTogether; ++p) {
        Floats<Count> values = unpack_pairs(held_[first + p]);
        change(values, with[p]);
        Pack<T, Count> result;
        KG_UNROLL
        for (int e = 0; e < Count; ++e) result.element[e] = from_float<T>(values.value[e]);
        held_[first + p].set(result);
      }
    }
    pipeline_.store(held_, to);
  }

 private:
  // One if threads have 64 registers.
  static constexpr int kTogether =
      Packs == kLongRowPacks || Stages == 1 ? 1 : std::min(Packs, kPacksTogether<T, Count>);

  static constexpr bool kAhead = Packs == kLongRowPacks;

  Pipeline& pipeline_;
  StoredPack<T, Count> held_[Packs];
};

// Copies the thread's packs of gamma or beta to shared memory, and returns the copy.
template <class T, int Count>
__device__ const T* keep(const T* vector, int cols, T* kept) {
  for (int i = static_cast<int>(threadIdx.x); i * Count < cols; i += static_cast<int>(blockDim.x)) {
    StoredPack<T, Count> pack = load_stored<T, Count>(vector, i, cols);
    *reinterpret_cast<Pack<T, Count>*>(kept + i * Count) = pack.pack();
  }
  return kept;
}

// vectors: how many of gamma and beta fit shared memory: all that are not null, or fewer if rows
// are whole packs.
template <Kind kind, class T, int Count, int Packs, int Stages>
__global__ void __launch_bounds__(Stages == 1 ? kMaxBlockThreads : row_pipeline_threads(Packs),
                                  Stages == 1 ? 1 : row_pipeline_blocks(Packs))
    block_in_ring(Forward<T> f, int vectors) {
  float* const scratch = dynamic_shared<float>();
  PipelineReductions of_block(scratch);
  T* const stages = reinterpret_cast<T*>(scratch + kRowPipelineScratch / sizeof(float));
  const int cols = static_cast<int>(f.cols);
  RowPipeline<T, Count, Packs, Stages> pipeline(stages, cols, from_float<T>(0));
  pipeline.prefetch(f.x + blockIdx.x * f.x_stride, cols);
  ptx::cp_async_commit();
  T* kept = stages + Stages * Packs * static_cast<int>(blockDim.x) * Count;
  if (vectors > 0 && f.gamma != nullptr) {
    f.gamma = keep<T, Count>(f.gamma, cols, kept);
    kept += (cols + Count - 1) / Count * Count;
    --vectors;
  }
  if (vectors > 0) f.beta = keep<T, Count>(f.beta, cols, kept);
  KG_ROLLED
  for (std::int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
    const auto prefetch_next = [&]() __attribute__((always_inline)) {
      const std::int64_t next = row + gridDim.x;
      pipeline.prefetch(f.x + next * f.x_stride, next < f.rows ? cols : 0);
      ptx::cp_async_commit();
    };
    if constexpr (Stages > 1) prefetch_next();
    ptx::cp_async_wait_group<Stages - 1>();
    const PipelinePart<T, Count, Packs, Stages> part(pipeline, cols);
    if constexpr (Stages == 1) prefetch_next();
    normalize<kind>(f, row, part, threadIdx.x == 0,
                    [&](float value) { return of_block.sum(value); });
  }
  ptx::cp_async_wait_all();
}

} // namespace kg::normalization
