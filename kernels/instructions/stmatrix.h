// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// stmatrix.sync.aligned.m8n8.x{1,2,4}{.trans}.shared.b16 [row], {...}: a warp writes 1, 2 or 4
// matrices of 8x8 16-bit elements to shared memory (PTX ISA, "Warp Level Matrix Instructions:
// stmatrix"), the inverse of ldmatrix.h. Lane 8 i + r gives the address of row r of matrix i,
// aligned to 16 bytes. fragment[i] of lane 4 r + c holds elements 2 c (lower half) and 2 c + 1 of
// row r of matrix i; with _trans, of column r.
//
// All lanes of a warp execute it together. It is an ordinary write: other lanes need a barrier
// before they read the data, and bulk copies also need fence_proxy_async_shared(). Architecture 9.0
// and above. A kernel that uses it on older architectures traps.
#pragma once

#include "instructions/shared_pointer.h"
#include "runtime/device_code.h"

#if !KG_BACKEND_CUDA
#include "runtime/host/matrix.h"
#endif

namespace kg::ptx {

#if KG_BACKEND_CUDA

__device__ inline void stmatrix(SharedAddress row, const unsigned (&fragment)[1]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(row.value),
               "r"(fragment[0])
               : "memory");
#else
  __trap();
#endif
}
__device__ inline void stmatrix(SharedAddress row, const unsigned (&fragment)[2]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(row.value),
               "r"(fragment[0]), "r"(fragment[1])
               : "memory");
#else
  __trap();
#endif
}
__device__ inline void stmatrix(SharedAddress row, const unsigned (&fragment)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row.value),
               "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3])
               : "memory");
#else
  __trap();
#endif
}

__device__ inline void stmatrix_trans(SharedAddress row, const unsigned (&fragment)[1]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(row.value),
               "r"(fragment[0])
               : "memory");
#else
  __trap();
#endif
}
__device__ inline void stmatrix_trans(SharedAddress row, const unsigned (&fragment)[2]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(row.value),
               "r"(fragment[0]), "r"(fragment[1])
               : "memory");
#else
  __trap();
#endif
}
__device__ inline void stmatrix_trans(SharedAddress row, const unsigned (&fragment)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row.value),
      "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3])
      : "memory");
#else
  __trap();
#endif
}

#else

template <unsigned Matrices>
[[gnu::always_inline]] inline void stmatrix(void* row, const unsigned (&fragment)[Matrices],
                                            Location where = Location::here()) {
  static_assert(Matrices == 1 || Matrices == 2 || Matrices == 4, "stmatrix writes 1, 2 or 4");
  host::store_matrices(row, fragment, Matrices, false, "stmatrix", where);
}
template <unsigned Matrices>
[[gnu::always_inline]] inline void stmatrix_trans(void* row, const unsigned (&fragment)[Matrices],
                                                  Location where = Location::here()) {
  static_assert(Matrices == 1 || Matrices == 2 || Matrices == 4, "stmatrix writes 1, 2 or 4");
  host::store_matrices(row, fragment, Matrices, true, "stmatrix_trans", where);
}

#endif

} // namespace kg::ptx
