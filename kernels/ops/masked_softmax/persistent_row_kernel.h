// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Masked softmax of rows of at most 128 KiB by blocks that stay, as
// ops/softmax/persistent_row_kernel.h has it: a row of x and one of the mask come through rings of
// their own (primitives/row_pipeline.h), of what a causal mask hides nothing. One read and one
// write per element and a byte of the mask. Rows of more than 64 KiB have rings of one place.
// Expected on an H200: 80 to 90 % of a copy's rate.
#pragma once

#include "ops/masked_softmax/row_access.h"
#include "primitives/largest.h"
#include "primitives/row_pipeline.h"
#include "primitives/unpack_pairs.h"

#include <limits>

namespace kg::masked_softmax {

// The ring of two places, or of one, whose blocks have a byte of the mask for each element of x
// that a thread has packs of. shared_bytes is 0 where there is none.
inline RowRingShape ring_of(Form form, std::int64_t rows, std::int64_t cols, std::size_t element) {
  const auto masks = [&](std::int64_t bytes) {
    return form == Form::boolean ? bytes / static_cast<std::int64_t>(element) : 0;
  };
  const RowRingShape two =
      row_ring_shape(rows, cols, element, kRingPlaces * masks(ring_place_bytes(cols, element)));
  if (two.shared_bytes > 0) return two;
  return single_ring_shape(rows, cols, element, masks(single_ring_place_bytes(cols, element)));
}

template <Form form, class T, int Count, int Packs, int Places>
__global__ void __launch_bounds__(Places == 1 ? kMaxBlockThreads : ring_threads(Packs),
                                  Places == 1 ? 1 : ring_blocks(Packs))
    block_in_ring(Problem<T> problem) {
  constexpr bool kHasMask = form == Form::boolean;
  float* const scratch = dynamic_shared<float>();
  RingReductions of_block(scratch);
  T* const places = reinterpret_cast<T*>(scratch + kRingScratch / sizeof(float));
  const int cols = static_cast<int>(problem.cols);
  RowRing<T, Count, Packs, Places> ring(places, cols, from_float<T>(kMasked));
  // Where there are no masks, rows of endless ones, which have no packs to be padded.
  RowRing<std::uint8_t, Count, Packs, Places> masks(
      reinterpret_cast<std::uint8_t*>(places +
                                      Places * Packs * static_cast<int>(blockDim.x) * Count),
      kHasMask ? cols : std::numeric_limits<int>::max(), 0);
  const auto ask = [&](std::int64_t index) __attribute__((always_inline)) {
    const bool exists = index < problem.rows;
    const Row<T> row = problem.template row<form>(exists ? index : 0);
    ring.ask(row.x, exists ? static_cast<int>(row.kept) : 0);
    if constexpr (kHasMask) masks.ask(row.keep, exists ? cols : 0);
    ptx::cp_async_commit();
  };

  ask(blockIdx.x);
  KG_ROLLED
  for (std::int64_t index = blockIdx.x; index < problem.rows; index += gridDim.x) {
    if constexpr (Places > 1) ask(index + gridDim.x);
    ptx::cp_async_wait_group<Places - 1>();
    const Row<T> row = problem.template row<form>(index);
    const int kept = static_cast<int>(row.kept);
    StoredPack<T, Count> held[Packs];
    ring.template take<kHasMask>(held, kept, from_float<T>(kMasked));
    if constexpr (kHasMask) {
      StoredPack<std::uint8_t, Count> keep[Packs];
      masks.take(keep, cols, 0);
      KG_UNROLL
      for (int p = 0; p < Packs; ++p)
        held[p] = MaskedPack<form, T, Count>{held[p], keep[p]}.masked();
    }
    if constexpr (Places == 1) ask(index + gridDim.x);
    // Of what a causal mask hides from all lanes nothing is computed.
    const auto is_hidden = [&](int p) __attribute__((always_inline)) {
      return form == Form::causal && ring.number(p) * Count >= kept;
    };

    float largest = kMasked; // fmaxf passes over NaN; the sum does not
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (is_hidden(p)) continue;
      largest = greatest(held[p], largest);
    }
    largest = warp_max(largest);
    float sum = 0;
    const float of_warp = reference_of(largest, problem.scale);
    loaded(held); // converted anew each time: as f32 the row would take all registers
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (is_hidden(p)) continue;
      const Floats<Count> values = widened_by_words(held[p]);
      KG_UNROLL
      for (int e = 0; e < Count; ++e) sum += term<T>(values.value[e], problem.scale, of_warp);
    }
    sum = warp_sum(sum);
    of_block.exchange(largest, sum, kMasked);
    const float of_row = warp_max(largest);
    const float reference = reference_of(of_row, problem.scale);
    // A warp of whose part nothing is kept has a sum of 0, or of NaN, and no part in the reference.
    const float share =
        largest == kMasked ? 0.0f : expf(reference_of(largest, problem.scale) - reference);
    const float by = normalizer(warp_sum(sum * share), of_row) * kExpUnit<T>;

    // 0, or NaN where the scaled maximum is beyond f32's range.
    const T hidden = from_float<T>(in_units<T>(kMasked, problem.scale, reference) * by);
    loaded(held);
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      Pack<T, Count> result;
      Floats<Count> values = widened_by_words(held[p]);
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
    ring.give(held, row.y);
  }
  ptx::cp_async_wait_all();
}

} // namespace kg::masked_softmax
