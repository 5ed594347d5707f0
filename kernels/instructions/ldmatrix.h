// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// ldmatrix: a warp reads 1, 2 or 4 matrices of 8x8 16-bit elements from shared memory (PTX ISA,
// "ldmatrix") into registers, in the layout of mma's operands (mma.h).
//
// `row` is the address of a row of 8 elements, aligned to 16 bytes. Lanes 0 to 7 give the rows of
// the first matrix, 8 to 15 those of the second, and so on. The other lanes' addresses are unused,
// but must be valid (architecture 7.5). For each matrix i, lane 4 r + c gets elements 2 c (lower
// half) and 2 c + 1 of row r in fragment[i]; with _trans, of column r. A matrix is read without
// bank conflicts if its 8 rows lie in different groups of 4 banks.
//
// All lanes of a warp execute it together. It implies no ordering: reading other lanes' writes
// needs a barrier first (at least __syncwarp). Architecture 7.5 and above.
#pragma once

#include "instructions/shared_pointer.h"
#include "runtime/device_code.h"

#if !KG_BACKEND_CUDA
#include "runtime/host/matrix.h"
#endif

namespace kg::ptx {

#if KG_BACKEND_CUDA

__device__ inline void ldmatrix(unsigned (&fragment)[1], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(fragment[0])
               : "r"(row.value)
               : "memory");
}
__device__ inline void ldmatrix(unsigned (&fragment)[2], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(fragment[0]), "=r"(fragment[1])
               : "r"(row.value)
               : "memory");
}
__device__ inline void ldmatrix(unsigned (&fragment)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(row.value)
               : "memory");
}

__device__ inline void ldmatrix_trans(unsigned (&fragment)[1], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(fragment[0])
               : "r"(row.value)
               : "memory");
}
__device__ inline void ldmatrix_trans(unsigned (&fragment)[2], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(fragment[0]), "=r"(fragment[1])
               : "r"(row.value)
               : "memory");
}
__device__ inline void ldmatrix_trans(unsigned (&fragment)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(row.value)
               : "memory");
}

#else

template <unsigned Matrices>
[[gnu::always_inline]] inline void ldmatrix(unsigned (&fragment)[Matrices], const void* row,
                                            Location where = Location::here()) {
  static_assert(Matrices == 1 || Matrices == 2 || Matrices == 4, "ldmatrix reads 1, 2 or 4");
  host::load_matrices(fragment, row, Matrices, false, "ldmatrix", where);
}
template <unsigned Matrices>
[[gnu::always_inline]] inline void ldmatrix_trans(unsigned (&fragment)[Matrices], const void* row,
                                                  Location where = Location::here()) {
  static_assert(Matrices == 1 || Matrices == 2 || Matrices == 4, "ldmatrix reads 1, 2 or 4");
  host::load_matrices(fragment, row, Matrices, true, "ldmatrix_trans", where);
}

#endif

} // namespace kg::ptx
