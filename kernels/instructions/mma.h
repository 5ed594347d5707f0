// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// mma.sync: a warp multiplies small matrices and adds the product to a sum in f32, or in 32-bit
// integers (PTX ISA, "mma"). mma_m<M>n<N>k<K>: A has M x K, B has K x N and the sum has M x N
// elements, distributed over the registers of the warp's lanes.
//
// Lane 4 r + c holds these elements. A register has two 16-bit elements (the first in the lower
// half) or one of 32 bits:
//   sum   elements (r, 2 c), (r, 2 c + 1), (r + 8, 2 c) and (r + 8, 2 c + 1)
//   a     16 bits: rows r, r + 8, r, r + 8; columns 2 c and 2 c + 1 in the first two registers,
//         2 c + 8 and 2 c + 9 in the others; tf32: the same rows, columns c, c, c + 4, c + 4
//   b     16 bits: column r, rows 2 c and 2 c + 1, then 2 c + 8 and 2 c + 9; tf32: rows c and c + 4
//   s8    four elements per register: a has columns 4 c to 4 c + 3, then these + 16; b has these
//         rows
// k8 of 16 bits uses the first half of these registers. ldmatrix (ldmatrix.h) loads a from a
// row-major and b from a column-major matrix; ldmatrix_trans does the reverse.
//
// All lanes of a warp execute it together. Products are exact. The hardware determines the order of
// the additions and the precision of intermediate sums.
//
// Architecture 8.0 and above, f16 also 7.5. On older ones, a kernel that uses the others traps.
#pragma once

#include "runtime/device_code.h"

#include <type_traits>

#if !KG_BACKEND_CUDA
#include "runtime/host/matrix.h"
#endif

namespace kg::ptx {

#if KG_BACKEND_CUDA

__device__ inline void mma_m16n8k8_f16(float (&sum)[4], const unsigned (&a)[2], unsigned b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
               "{%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(b));
}

// T: f16 or bf16.
template <class T>
__device__ inline void mma_m16n8k16(float (&sum)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2]) {
  static_assert(std::is_same_v<T, f16> || std::is_same_v<T, bf16>, "16-bit floating point");
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, f16>) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#else
  if constexpr (std::is_same_v<T, f16>) {
    mma_m16n8k8_f16(sum, {a[0], a[1]}, b[0]);
    mma_m16n8k8_f16(sum, {a[2], a[3]}, b[1]);
  } else {
    __trap();
  }
#endif
}

// a and b: from to_tf32 or to_tf32_operand (tf32.h); the low 13 bits of floats are ignored.
__device__ inline void mma_m16n8k8_tf32(float (&sum)[4], const unsigned (&a)[4],
                                        const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap();
#endif
}

// Sums wrap around.
__device__ inline void mma_m16n8k32_s8(int (&sum)[4], const unsigned (&a)[4],
                                       const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap();
#endif
}

#else

inline void mma_m16n8k8_f16(float (&sum)[4], const unsigned (&a)[2], unsigned b,
                            Location where = Location::here()) {
  host::multiply_matrices<host::Binary16, 8>(sum, a, &b, "mma_m16n8k8_f16", where);
}

template <class T>
inline void mma_m16n8k16(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                         Location where = Location::here()) {
  static_assert(std::is_same_v<T, f16> || std::is_same_v<T, bf16>, "16-bit floating point");
  if constexpr (std::is_same_v<T, f16>) {
    host::multiply_matrices<host::Binary16, 16>(sum, a, b, "mma_m16n8k16<f16>", where);
  } else {
    host::multiply_matrices<host::Bfloat16, 16>(sum, a, b, "mma_m16n8k16<bf16>", where);
  }
}

inline void mma_m16n8k8_tf32(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                             Location where = Location::here()) {
  host::multiply_matrices<host::Tf32, 8>(sum, a, b, "mma_m16n8k8_tf32", where);
}

inline void mma_m16n8k32_s8(int (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                            Location where = Location::here()) {
  host::multiply_matrices<host::Bytes<signed char>, 32>(sum, a, b, "mma_m16n8k32_s8", where);
}

#endif

} // namespace kg::ptx
