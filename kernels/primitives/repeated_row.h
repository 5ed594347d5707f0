// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Broadcasts one row, such as a bias, over the rows of a matrix that threads process in packs
// across row boundaries.
#pragma once

#include "primitives/divisor.h"
#include "primitives/pack.h"

#include <cstdint>

namespace kg {

template <class T>
__host__ __device__ inline bool at_boundary(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kPackBytes == 0;
}

// The elements of `row` (`cols` elements) for the pack of the matrix that starts at element
// `index`. Loads single elements if the pack crosses the end of a row or the source is unaligned.
template <class T>
__device__ __forceinline__ Pack<T, kPackElements<T>>
repeated_pack(const T* row, const Divisor& cols, std::int64_t index) {
  constexpr int kCount = kPackElements<T>;
  using Chunk = Pack<T, kCount>;
  std::int64_t column = index - cols.quotient(index) * cols.value;
  const T* const first = row + column;
  if (column + kCount <= cols.value && at_boundary(first))
    return *reinterpret_cast<const Chunk*>(first);
  Chunk result;
  KG_UNROLL
  for (int e = 0; e < kCount; ++e) {
    result.element[e] = row[column];
    column = column + 1 < cols.value ? column + 1 : 0;
  }
  return result;
}

} // namespace kg
