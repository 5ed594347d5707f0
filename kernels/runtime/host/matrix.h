// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix instructions of a warp (PTX ISA, "Warp Level Matrix Instructions"): the host's ldmatrix,
// stmatrix and mma. All 32 lanes of a warp must execute the same instruction together; otherwise a
// GPU's result is undefined, and the emulator throws Error (a trap). They order no memory accesses.
#pragma once

#include "runtime/error.h"
#include "runtime/host/block.h"
#include "runtime/host/vector_types.h"

namespace kg::host {

// One row of an 8x8 matrix of 16-bit elements: one access of a lane.
using MatrixRow = uint4;

[[noreturn]] void misaligned_matrix_row(const char* name, Location where);

// Distributes the matrices that the warp has read. Lane 8 i + r supplies row r of matrix i; lane 4
// r + c receives elements 2 c and 2 c + 1 of row r of each matrix, or of column r if `transposed`.
// `matrices`: 1, 2 or 4.
void distribute_matrices(unsigned* fragment, const MatrixRow& row, unsigned matrices,
                         bool transposed, const char* name, Location where);

// The inverse: collects from the lanes' fragments the row that this lane has to write.
MatrixRow collect_matrices(const unsigned* fragment, unsigned matrices, bool transposed,
                           const char* name, Location where);

// A matrix that a warp reads or writes as a whole, each lane its elements; rows are `row_bytes`
// apart. All lanes must pass the same address, a multiple of 32 bytes, with rows of a multiple of
// 16 bytes (CUDA C++ Programming Guide, "Warp Matrix Functions"). For 8-bit elements 16 bytes
// suffice for both: one access covers a row of 16 elements. Returns the lane.
unsigned lane_of_matrix(const void* first, std::size_t element_bytes, std::size_t row_bytes,
                        const char* name, Location where);

// Always inline: the read must be in the kernel's own code, where checkers and counters see it.
[[gnu::always_inline]] inline void load_matrices(unsigned* fragment, const void* row,
                                                 unsigned matrices, bool transposed,
                                                 const char* name, Location where) {
  MatrixRow mine{};
  if (running_block(name, where).lane() < 8 * matrices) {
    if (reinterpret_cast<std::uintptr_t>(row) % sizeof(MatrixRow) != 0)
      misaligned_matrix_row(name, where);
    mine = *static_cast<const MatrixRow*>(row);
  }
  distribute_matrices(fragment, mine, matrices, transposed, name, where);
}

[[gnu::always_inline]] inline void store_matrices(void* row, const unsigned* fragment,
                                                  unsigned matrices, bool transposed,
                                                  const char* name, Location where) {
  const MatrixRow mine = collect_matrices(fragment, matrices, transposed, name, where);
  if (running_block(name, where).lane() >= 8 * matrices) return;
  if (reinterpret_cast<std::uintptr_t>(row) % sizeof(MatrixRow) != 0)
    misaligned_matrix_row(name, where);
  *static_cast<MatrixRow*>(row) = mine;
}

// TF32: a float with 10 fraction bits. The instruction ignores the other bits.
struct Tf32 {
  struct Raw {
    unsigned x;
  };
  static float to_float(unsigned bits);
};

// 8-bit integers, four per register, with 32-bit sums that wrap around.
template <class T>
struct Bytes {
  using Raw = T;
};

// The accumulator type.
template <class Format>
struct SumOf {
  using Type = float;
};
template <class T>
struct SumOf<Bytes<T>> {
  using Type = int;
};

// sum += A B, with A of 16 x kDepth and B of kDepth x 8 elements of Format (Binary16, Bfloat16,
// Tf32, Bytes). Products are exact and are added to the sum one by one in ascending order of k. PTX
// leaves the order open.
template <class Format, int kDepth>
void multiply_matrices(typename SumOf<Format>::Type* sum, const unsigned* a, const unsigned* b,
                       const char* name, Location where);

} // namespace kg::host
