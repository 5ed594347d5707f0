// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One row that every row of a matrix meets, a bias, where threads take packs of the matrix wherever
// its rows end.
#pragma once

#include "primitives/divisor.h"
#include "primitives/pack.h"

#include <cstdint>

namespace kg {

template <class T>
__host__ __device__ inline bool at_boundary(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kPackBytes == 0;
}

// Of `row`, which has `cols` elements, what the pack of the matrix that begins at element `index`
// meets; one by one where the pack crosses the end of a row, or meets what is not aligned.
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
