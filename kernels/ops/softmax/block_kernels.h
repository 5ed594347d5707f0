// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax with one block per row, for rows that neither persistent_row_kernel.h nor
// chunked_row_kernel.h takes.
//
// block_in_shared is for unaligned rows, which it keeps in shared memory as f32: one read and one
// write per element. block_two_reads is for rows that do not fit. It finds maximum and sum in one
// pass and reads the row again for the results, from L2 if the rows in flight fit there. Expected
// on an H200 for 16-bit rows of 128 KiB to 512 KiB: 70 % of copy bandwidth. One block occupies a
// multiprocessor, and no load is in flight during its reductions.
#pragma once

#include "ops/softmax/row_access.h"
#include "primitives/block.h"

#include <cfloat>

namespace kg::softmax {

// At the start of dynamic shared memory, before the row: a maximum and a sum per warp.
inline constexpr int kScratchFloats = 2 * kMaxWarps;
// Packs that a thread loads before it uses the first one.
inline constexpr int kPacksInFlight = 4;

template <Kind kind, class T>
__global__ void __launch_bounds__(kMaxBlockThreads)
    block_in_shared(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride,
                    std::int64_t cols) {
  float* scratch = dynamic_shared<float>();
  float* const row = scratch + kScratchFloats; // a thread reads only what it wrote
  const T* from = x + blockIdx.x * x_stride;
  T* to = y + blockIdx.x * y_stride;

  float maximum = kPadding; // fmaxf ignores NaN; the sum propagates it
  for (std::int64_t first = threadIdx.x; first < cols; first += kPacksInFlight * blockDim.x) {
    StoredPack<T, 1> stored[kPacksInFlight];
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p)
      stored[p] = load<T, 1>(from, first + p * blockDim.x, cols);
    loaded(stored);
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      const float value = widened(stored[p]).value[0];
      maximum = fmaxf(maximum, value);
      if (first + p * blockDim.x < cols) row[first + p * blockDim.x] = value;
    }
  }
  maximum = block_max(maximum, scratch);

  // A maximum of -inf or +inf makes its own term NaN here, and therefore the row's sum.
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < cols; i += blockDim.x) {
    const float difference = row[i] - maximum;
    const float exponential = expf(difference);
    sum += exponential;
    row[i] = kind == Kind::softmax ? exponential : difference;
  }
  const float by = normalizer<kind>(block_sum(sum, scratch + kMaxWarps));

  for (std::int64_t i = threadIdx.x; i < cols; i += blockDim.x)
    to[i] = from_float<T>(normalized<kind>(row[i], by));
}

// Maximum and sum in one pass: Milakov and Gimelshein, "Online normalizer calculation for softmax",
// 2018. A thread sums exp(x - reference), where the reference is its largest element so far. Each
// rescaling adds the error of an exponential, so it happens at most once per kPacksInFlight packs:
// 64 times in a strictly rising row of a million f32 elements.
template <Kind kind, class T, int Count>
__global__ void __launch_bounds__(kMaxBlockThreads)
    block_two_reads(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride,
                    std::int64_t cols) {
  float* scratch = dynamic_shared<float>();
  const std::int64_t packs = (cols + Count - 1) / Count;
  const T* from = x + blockIdx.x * x_stride;
  T* to = y + blockIdx.x * y_stride;

  // Single elements, for rows without packs, are few bytes each.
  constexpr int kInFlight = Count == 1 ? 2 * kPacksInFlight : kPacksInFlight;
  float maximum = kPadding;
  float reference = -FLT_MAX; // finite, so that -inf - reference is -inf
  float sum = 0;
  for (std::int64_t first = threadIdx.x; first < packs; first += kInFlight * blockDim.x) {
    StoredPack<T, Count> stored[kInFlight];
    KG_UNROLL
    for (int p = 0; p < kInFlight; ++p)
      stored[p] = load<T, Count>(from, first + p * blockDim.x, cols);
    Floats<Count> values[kInFlight];
    widen(stored, values);
    KG_UNROLL
    for (int p = 0; p < kInFlight; ++p) maximum = largest(values[p], maximum);
    if (maximum > reference) {
      sum *= expf(reference - maximum);
      reference = maximum;
    }
    KG_UNROLL
    for (int p = 0; p < kInFlight; ++p) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e) sum += exp_of_sum<T>(values[p].value[e] - reference);
    }
  }
  maximum = block_max(maximum, scratch);
  // In a row of nothing but -inf this is 0 times inf: NaN, as it must be.
  sum *= expf(reference - maximum);
  const float by = normalizer<kind, T>(block_sum(sum, scratch + kMaxWarps));

  for (std::int64_t start = threadIdx.x; start < packs; start += kInFlight * blockDim.x) {
    StoredPack<T, Count> stored[kInFlight];
    KG_UNROLL
    for (int p = 0; p < kInFlight; ++p)
      stored[p] = load<T, Count>(from, start + p * blockDim.x, cols);
    loaded(stored);
    KG_UNROLL
    for (int p = 0; p < kInFlight; ++p) {
      Floats<Count> values = widened(stored[p]);
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        values.value[e] = normalized<kind>(kept<kind, T>(values.value[e] - maximum), by);
      store_pack<T, Count>(to, start + p * blockDim.x, cols, values);
    }
  }
}

} // namespace kg::softmax
