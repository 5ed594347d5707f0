// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm and layernorm of rows of at most 128 KiB by blocks that stay: each takes a row after the
// other through a ring in shared memory (primitives/row_pipeline.h) into its registers, one read
// and one write per element, and keeps gamma and beta beside the ring, or gamma alone, where they
// fit.
//
// Measured on an H200: 88 to 95 % of a copy's rate where what there is of gamma and
// beta lies beside the ring. Where neither did, each row read both from L2 once more: 79 % of
// layernorm's rows of 64 KiB of bf16, and 87 % since gamma alone is kept. Each pack of beta was
// waited for there; now it is asked for while the one before is worked on, which is not measured
// yet. Rows of more than 64 KiB have rings of one place. Why blocks that stay: a block for each row
// loads nothing while it computes, and of rows of 16 KiB and more so few are resident that memory
// waits; measured, 0.61 to 0.74 of a copy for rows of 16 KiB and 0.46 to 0.65 for 64 KiB. Why not a
// cluster for a row: measured, that was no faster.
#pragma once

#include "ops/normalization/forward_kernels.h"
#include "primitives/row_pipeline.h"

#include <algorithm>

namespace kg::normalization {

// A thread's packs of the row that the ring has brought, as a part (row_parts.h).
template <class T, int Count, int Packs, int Places>
class RingPart {
  using Ring = RowRing<T, Count, Packs, Places>;

 public:
  static constexpr int kCount = Count;
  static constexpr bool kInWholePacks = true;

  __device__ RingPart(Ring& ring, int cols) : ring_(ring) {
    ring.take(held_, cols, from_float<T>(0));
  }

  template <class Use>
  __device__ __forceinline__ void each(Use use) {
    loaded(held_); // converted anew each time: as f32 the row would take all registers
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) use(ring_.number(p), widened_by_words(held_[p]));
  }

  // Several packs of `load` are asked for before the first is used, and the next ones before those
  // that have come, where there are registers: what lies in L2 takes as long to come as a pack
  // takes to be worked on.
  template <class Load, class Change>
  __device__ __forceinline__ void store(T* to, Load load, Change change) {
    using With = decltype(load(0));
    const auto ask = [&](With(&with)[kTogether], int first) __attribute__((always_inline)) {
      KG_UNROLL
      for (int p = 0; p < kTogether; ++p) with[p] = load(ring_.number_in_row(first + p));
    };
    loaded(held_);
    With next[kTogether];
    if constexpr (kAhead) ask(next, 0);
    KG_UNROLL
    for (int first = 0; first < Packs; first += kTogether) {
      With with[kTogether];
      if constexpr (kAhead) {
        KG_UNROLL
        for (int p = 0; p < kTogether; ++p) with[p] = next[p];
        if (first + kTogether < Packs) ask(next, first + kTogether);
      } else {
        ask(with, first);
      }
      loaded(with);
      KG_UNROLL
      for (int p = 0; p < kTogether; ++p) {
        Floats<Count> values = widened_by_words(held_[first + p]);
        change(values, with[p]);
        Pack<T, Count> result;
        KG_UNROLL
        for (int e = 0; e < Count; ++e) result.element[e] = from_float<T>(values.value[e]);
        held_[first + p].set(result);
      }
    }
    ring_.give(held_, to);
  }

 private:
  // One where threads have 64 registers.
  static constexpr int kTogether =
      Packs == kLongRingPacks || Places == 1 ? 1 : std::min(Packs, kPacksTogether<T, Count>);

  static constexpr bool kAhead = Packs == kLongRingPacks;

  Ring& ring_;
  StoredPack<T, Count> held_[Packs];
};

// Copies the thread's packs of gamma or beta to `kept`, and returns what stands for it from now on.
template <class T, int Count>
__device__ const T* keep(const T* vector, int cols, T* kept) {
  for (int i = static_cast<int>(threadIdx.x); i * Count < cols; i += static_cast<int>(blockDim.x)) {
    StoredPack<T, Count> pack = load_stored<T, Count>(vector, i, cols);
    *reinterpret_cast<Pack<T, Count>*>(kept + i * Count) = pack.pack();
  }
  return kept;
}

// vectors: how many of gamma and beta there is shared memory for: all that are not null, or, where
// rows are of whole packs, fewer.
template <Kind kind, class T, int Count, int Packs, int Places>
__global__ void __launch_bounds__(Places == 1 ? kMaxBlockThreads : ring_threads(Packs),
                                  Places == 1 ? 1 : ring_blocks(Packs))
    block_in_ring(Forward<T> f, int vectors) {
  float* const scratch = dynamic_shared<float>();
  RingReductions of_block(scratch);
  T* const places = reinterpret_cast<T*>(scratch + kRingScratch / sizeof(float));
  const int cols = static_cast<int>(f.cols);
  RowRing<T, Count, Packs, Places> ring(places, cols, from_float<T>(0));
  ring.ask(f.x + blockIdx.x * f.x_stride, cols);
  ptx::cp_async_commit();
  T* kept = places + Places * Packs * static_cast<int>(blockDim.x) * Count;
  if (vectors > 0 && f.gamma != nullptr) {
    f.gamma = keep<T, Count>(f.gamma, cols, kept);
    kept += (cols + Count - 1) / Count * Count;
    --vectors;
  }
  if (vectors > 0) f.beta = keep<T, Count>(f.beta, cols, kept);
  KG_ROLLED
  for (std::int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
    const auto ask_for_next = [&]() __attribute__((always_inline)) {
      const std::int64_t next = row + gridDim.x;
      ring.ask(f.x + next * f.x_stride, next < f.rows ? cols : 0);
      ptx::cp_async_commit();
    };
    if constexpr (Places > 1) ask_for_next();
    ptx::cp_async_wait_group<Places - 1>();
    const RingPart<T, Count, Packs, Places> part(ring, cols);
    if constexpr (Places == 1) ask_for_next();
    normalize<kind>(f, row, part, threadIdx.x == 0,
                    [&](float value) { return of_block.sum(value); });
  }
  ptx::cp_async_wait_all();
}

} // namespace kg::normalization
