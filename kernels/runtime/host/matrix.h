// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix instructions of a warp (PTX ISA, "Warp Level Matrix Instructions"): the host's ldmatrix,
// stmatrix and mma. All 32 lanes of a warp must execute the same one together: anything else is an
// Error (a trap), for a GPU's result is undefined then. They order no accesses to memory.
#pragma once

#include "runtime/error.h"
#include "runtime/host/block.h"
#include "runtime/host/vector_types.h"

namespace kg::host {

// What a row of an 8x8 matrix of 16-bit elements is: one access of a lane.
using MatrixRow = uint4;

[[noreturn]] void misaligned_matrix_row(const char* name, Location where);

// Hands out what the warp has read. Lane 8 i + r brought row r of matrix i; lane 4 r + c gets
// elements 2 c and 2 c + 1 of row r of each matrix, or of column r where `transposed`. `matrices`:
// 1, 2 or 4.
void distribute_matrices(unsigned* fragment, const MatrixRow& row, unsigned matrices,
                         bool transposed, const char* name, Location where);

// The other way round: the row that this lane is to write, from what the lanes hold.
MatrixRow collect_matrices(const unsigned* fragment, unsigned matrices, bool transposed,
                           const char* name, Location where);

// A matrix that a warp reads or writes whole, each lane its elements, in rows that lie `row_bytes`
// apart: all lanes must name the same one, at an address that is a multiple of 32 bytes, of rows
// that are a multiple of 16 (CUDA C++ Programming Guide, "Warp Matrix Functions"; of 8-bit elements
// 16 is enough of either, as a line of 16 of them is a whole access). Gives the lane.
unsigned lane_of_matrix(const void* first, std::size_t element_bytes, std::size_t row_bytes,
                        const char* name, Location where);

// Always inline: the read must be one of the kernel's own, which the checkers and the counters see.
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

// TF32: a float of which 10 bits of fraction count. The instruction does not look at the others.
struct Tf32 {
  struct Raw {
    unsigned x;
  };
  static float to_float(unsigned bits);
};

// 8-bit integers, four in a register, whose sums are of 32 bits and wrap.
template <class T>
struct Bytes {
  using Raw = T;
};

// What a product is added to.
template <class Format>
struct SumOf {
  using Type = float;
};
template <class T>
struct SumOf<Bytes<T>> {
  using Type = int;
};

// sum += A B, with A of 16 x kDepth and B of kDepth x 8 elements of Format (Binary16, Bfloat16,
// Tf32, Bytes). Products are exact; they are added to the sum one after the other, in ascending
// order of k. PTX leaves the order open.
template <class Format, int kDepth>
void multiply_matrices(typename SumOf<Format>::Type* sum, const unsigned* a, const unsigned* b,
                       const char* name, Location where);

} // namespace kg::host
