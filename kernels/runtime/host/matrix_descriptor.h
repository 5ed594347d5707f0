// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrices in shared memory as wgmma reads them (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Shared Memory Layout", "Matrix Descriptor Format"). 64 bits say where a matrix begins and how its
// core matrices, of 8 rows of 16 bytes, lie: bits 0-13 the address, 16-29 the leading and 32-45 the
// stride byte offset, each in units of 16 bytes; 49-51 the base offset; 62-63 the swizzle: 0 none,
// 1 of 128 bytes, 2 of 64, 3 of 32.
#pragma once

#include "runtime/error.h"
#include "runtime/host/tensor_map.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kg::host {

struct MatrixDescriptor {
  std::size_t first = 0;               // bytes from the beginning of the window of shared memory
  std::size_t leading = 0, stride = 0; // bytes
  Swizzle swizzle = Swizzle::none;
};

// Throws Error where the bits mean nothing, or what is not executed.
MatrixDescriptor decode_matrix(std::uint64_t bits, Location where);

// An operand: `rows` of m or n, a multiple of 8, and `depth` of k.
struct MatrixShape {
  unsigned rows;
  unsigned depth;
  unsigned element_bytes;
  bool by_depth; // elements next to each other in k lie next to each other (K-major)
};

// The addresses of the 16-byte units that hold the matrix, which begins at address `first` (that of
// the descriptor, not swizzled). K-major: unit u of row r is number r * units + u, where a row has
// `units`. Otherwise unit u of 8 rows is number u * depth + k.
std::vector<std::uintptr_t> units_of(const MatrixDescriptor& matrix, const MatrixShape& shape,
                                     std::uintptr_t first);

} // namespace kg::host
