// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Access to nhwc tensors: a matrix of rows (batch x spatial) by channels. A thread has one vector
// of Count channels, so per-channel values stay in its registers from row to row.
#pragma once

#include "ops/batchnorm/variants.h"
#include "primitives/row.h"

#include <cstdint>
#include <type_traits>

namespace kg::batchnorm {

// The index of the thread's vector in a row.
__device__ __forceinline__ std::int64_t column_pack() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// The direction in which a pass traverses memory.
enum class Walk { forwards, backwards };

// Iterates over the thread's rows: use(rows, held, whole) for AtOnce rows at a time, of which the
// first `held` exist. `whole` is a compile-time constant: whether all exist. Blocks share the rows
// along the grid's y axis.
template <Walk walk, int AtOnce = kTogether, class Use>
__device__ __forceinline__ void each_rows(std::int64_t rows, Use use) {
  const auto height = static_cast<std::int64_t>(blockDim.y);
  const auto tile = AtOnce * height;
  for (std::int64_t left = rows - blockIdx.y * tile - threadIdx.y; left > 0;
       left -= gridDim.y * tile) { // rows from the thread's next one, in the direction of the pass
    std::int64_t row[AtOnce];
    int held = 0;
    KG_UNROLL
    for (int k = 0; k < AtOnce; ++k) {
      const std::int64_t behind = k * height;
      row[k] = walk == Walk::forwards ? rows - left + behind : left - 1 - behind;
      if (behind < left) held = k + 1;
    }
    if (held == AtOnce)
      use(row, held, std::true_type{});
    else
      use(row, held, std::false_type{});
  }
}

// Vector `pack` of the row; zeros if `held` is false.
template <class T, int Count>
__device__ __forceinline__ StoredPack<T, Count> load_columns(const T* row, std::int64_t pack,
                                                             std::int64_t channels, bool held) {
  if (held) return load_stored<T, Count>(row, pack, channels);
  return {};
}

// Vector `pack` of an array of floats; a vector of 8 takes two accesses.
template <int Count>
__device__ __forceinline__ Floats<Count> load_floats(const float* vector, std::int64_t pack,
                                                     std::int64_t channels) {
  constexpr int kWidth = Count < 4 ? Count : 4;
  constexpr int kAccesses = Count / kWidth;
  Floats<Count> values;
  KG_UNROLL
  for (int a = 0; a < kAccesses; ++a) {
    const auto part = load_pack<float, kWidth>(vector, pack * kAccesses + a, channels, 0.0f);
    KG_UNROLL
    for (int e = 0; e < kWidth; ++e) values.value[a * kWidth + e] = part.value[e];
  }
  return values;
}

template <int Count>
__device__ __forceinline__ void store_floats(float* vector, std::int64_t pack,
                                             std::int64_t channels, const Floats<Count>& values) {
  constexpr int kWidth = Count < 4 ? Count : 4;
  constexpr int kAccesses = Count / kWidth;
  KG_UNROLL
  for (int a = 0; a < kAccesses; ++a) {
    Floats<kWidth> part;
    KG_UNROLL
    for (int e = 0; e < kWidth; ++e) part.value[e] = values.value[a * kWidth + e];
    store_pack<float, kWidth, Store::wide>(vector, pack * kAccesses + a, channels, part);
  }
}

} // namespace kg::batchnorm
