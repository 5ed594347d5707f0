// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// 16-byte accesses: what a thread should load and store wherever alignment permits.
#pragma once

#include "runtime/device_code.h"
#include "runtime/view.h"

#include <cstdint>

namespace kg {

inline constexpr int kPackBytes = 16; // the widest access of one thread
template <class T>
inline constexpr int kPackElements = kPackBytes / static_cast<int>(sizeof(T));

// Count elements that move in one access.
template <class T, int Count>
struct alignas(Count * sizeof(T)) Pack {
  T element[Count];
};

// Elements from `pointer`, aligned to T, to the next address that is a multiple of kPackBytes.
template <class T>
__host__ __device__ inline int elements_to_boundary(const T* pointer) {
  const auto past = reinterpret_cast<std::uintptr_t>(pointer) % kPackBytes;
  return static_cast<int>((kPackBytes - past) % kPackBytes / sizeof(T));
}

// Whether every row starts at a multiple of kPackBytes.
template <class T>
bool rows_are_aligned(const MatrixView<T>& matrix) {
  const auto bytes = static_cast<std::uintptr_t>(matrix.stride[0]) * sizeof(T);
  return reinterpret_cast<std::uintptr_t>(matrix.data) % kPackBytes == 0 &&
         (bytes % kPackBytes == 0 || matrix.shape[0] == 1);
}

} // namespace kg
