// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// 16-byte accesses, the width that a thread should use if alignment permits.
#pragma once

#include "runtime/device_code.h"
#include "runtime/view.h"

#include <cstdint>
#include <cstring>

namespace kg {

inline constexpr int kPackBytes = 16; // the widest access of one thread
template <class T>
inline constexpr int kPackElements = kPackBytes / static_cast<int>(sizeof(T));

// Count elements moved by one access.
template <class T, int Count>
struct alignas(Count * sizeof(T)) Pack {
  T element[Count];
};

// Stores to global memory in 16-byte accesses, or 8 bytes in one. A plain assignment is not enough:
// next to another store through the same pointer, nvcc (13.0) splits it into elements, even for
// uint4.
template <class T, int Count>
__device__ __forceinline__ void store_wide(Pack<T, Count>* to, const Pack<T, Count>& value) {
#if KG_BACKEND_CUDA
  if constexpr (sizeof(value) % sizeof(uint4) == 0) {
    constexpr int kParts = sizeof(value) / sizeof(uint4);
    uint4 parts[kParts];
    memcpy(parts, &value, sizeof value);
    KG_UNROLL
    for (int p = 0; p < kParts; ++p) __stwb(reinterpret_cast<uint4*>(to) + p, parts[p]);
  } else if constexpr (sizeof(value) == sizeof(uint2)) {
    uint2 bits;
    memcpy(&bits, &value, sizeof bits);
    __stwb(reinterpret_cast<uint2*>(to), bits);
  } else {
    *to = value;
  }
#else
  *to = value;
#endif
}

// Stores data that is not read again soon: 16-byte packs use st.global.cs (evict first), so that
// reused data stays cached. Narrower packs use an ordinary store.
template <class T, int Count>
__device__ inline void store_streaming(Pack<T, Count>* to, const Pack<T, Count>& value) {
  if constexpr (sizeof(value) == sizeof(uint4)) {
    uint4 bits;
    memcpy(&bits, &value, sizeof bits);
    __stcs(reinterpret_cast<uint4*>(to), bits);
  } else {
    store_wide(to, value);
  }
}

// The number of elements from `pointer` to the next multiple of kPackBytes.
template <class T>
__host__ __device__ inline int elements_to_boundary(const T* pointer) {
  const auto past = reinterpret_cast<std::uintptr_t>(pointer) % kPackBytes;
  return static_cast<int>((kPackBytes - past) % kPackBytes / sizeof(T));
}

// Whether `pointer` is a multiple of kPackBytes; true for null.
template <class T>
bool is_aligned(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kPackBytes == 0;
}

// Whether every row starts at a multiple of kPackBytes.
template <class T>
bool rows_are_aligned(const MatrixView<T>& matrix) {
  const auto bytes = static_cast<std::uintptr_t>(matrix.stride[0]) * sizeof(T);
  return is_aligned(matrix.data) && (bytes % kPackBytes == 0 || matrix.shape[0] == 1);
}

} // namespace kg
