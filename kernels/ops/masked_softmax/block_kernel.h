// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Masked softmax with one block per row, for rows that persistent_row_kernel.h does not take.
//
// block_in_shared is for unaligned rows, which it keeps in shared memory as f32: one read and one
// write per element and a byte of the mask. block_two_reads is for rows that do not fit: it finds
// maximum and sum in one pass and reads the row and its mask again for the results. Expected on an
// H200: 60 % of copy bandwidth.
#pragma once

#include "ops/masked_softmax/row_access.h"
#include "primitives/block.h"
#include "primitives/row.h"

namespace kg::masked_softmax {

// At the start of dynamic shared memory, before the row: a maximum and a sum per warp.
inline constexpr int kScratchFloats = 2 * kMaxWarps;
// Packs that a thread loads before it uses the first one.
inline constexpr int kPacksInFlight = 4;

template <Form form, class T>
__global__ void __launch_bounds__(kMaxBlockThreads) block_in_shared(Problem<T> problem) {
  float* scratch = dynamic_shared<float>();
  float* const held = scratch + kScratchFloats; // a thread reads only what it wrote
  const Row<T> row = problem.template row<form>(blockIdx.x);

  float largest = kMasked; // fmaxf ignores NaN; the sum propagates it
  for (std::int64_t first = threadIdx.x; first < row.cols; first += kPacksInFlight * blockDim.x) {
    MaskedPack<form, T, 1> stored[kPacksInFlight];
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p)
      stored[p] = MaskedPack<form, T, 1>::load(row, first + p * blockDim.x);
    loaded(stored);
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      const float value = stored[p].values().value[0];
      largest = fmaxf(largest, value);
      if (first + p * blockDim.x < row.cols) held[first + p * blockDim.x] = value;
    }
  }
  largest = block_max(largest, scratch);
  const float reference = reference_of(largest, problem.scale);

  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < row.cols; i += blockDim.x) {
    held[i] = exponential(held[i], problem.scale, reference);
    sum += held[i];
  }
  const float by = normalizer(block_sum(sum, scratch + kMaxWarps), largest);

  for (std::int64_t i = threadIdx.x; i < row.cols; i += blockDim.x)
    row.y[i] = from_float<T>(held[i] * by);
}

// Maximum and sum in one pass, as in ops/softmax/block_kernels.h: a thread sums exp(x - reference),
// where the reference is that of its largest element so far.
template <Form form, class T, int Count>
__global__ void __launch_bounds__(kMaxBlockThreads) block_two_reads(Problem<T> problem) {
  using Stored = MaskedPack<form, T, Count>;
  float* scratch = dynamic_shared<float>();
  const Row<T> row = problem.template row<form>(blockIdx.x);
  const std::int64_t packs = (row.cols + Count - 1) / Count;
  const auto load = [&](Stored(&stored)[kPacksInFlight], std::int64_t first)
      __attribute__((always_inline)) {
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) stored[p] = Stored::load(row, first + p * blockDim.x);
    loaded(stored);
  };

  float seen = kMasked, largest = kMasked; // fmaxf ignores NaN; the sum propagates it
  float sum = 0;
  for (std::int64_t first = threadIdx.x; first < packs; first += kPacksInFlight * blockDim.x) {
    Stored stored[kPacksInFlight];
    load(stored, first);
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      const Floats<Count> values = stored[p].values();
      KG_UNROLL
      for (int e = 0; e < Count; ++e) seen = fmaxf(seen, values.value[e]);
    }
    const float reference = reference_of(seen, problem.scale);
    // The sum of a thread without a kept element so far is 0 or NaN, and stays so.
    if (seen > largest && largest != kMasked)
      sum *= expf(reference_of(largest, problem.scale) - reference);
    largest = seen;
    loaded(stored); // converted again: as f32 they would take all registers
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      const Floats<Count> values = stored[p].values();
      KG_UNROLL
      for (int e = 0; e < Count; ++e) sum += term<T>(values.value[e], problem.scale, reference);
    }
  }
  seen = block_max(seen, scratch);
  const float reference = reference_of(seen, problem.scale);
  // A thread without kept elements has a sum of 0 or NaN.
  const float share =
      largest == kMasked ? 0.0f : expf(reference_of(largest, problem.scale) - reference);
  const float by = normalizer(block_sum(sum * share, scratch + kMaxWarps), seen) * kExpUnit<T>;

  for (std::int64_t first = threadIdx.x; first < packs; first += kPacksInFlight * blockDim.x) {
    Stored stored[kPacksInFlight];
    load(stored, first);
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      Floats<Count> values = stored[p].values();
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        values.value[e] = in_units<T>(values.value[e], problem.scale, reference) * by;
      store_pack<T, Count>(row.y, first + p * blockDim.x, row.cols, values);
    }
  }
}

} // namespace kg::masked_softmax
