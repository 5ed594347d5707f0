// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrices in shared memory as wgmma reads them (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Shared Memory Layout", "Matrix Descriptor Format"). 64 bits give the start of a matrix and the
// layout of its core matrices, 8 rows of 16 bytes each. Bits 0-13: address, 16-29: leading byte
// offset, 32-45: stride byte offset, each in units of 16 bytes. Bits 49-51: base offset. Bits
// 62-63: swizzle, 0 none, 1 of 128 bytes, 2 of 64, 3 of 32.
#pragma once

#include "runtime/error.h"
#include "runtime/host/tensor_map.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kg::host {

struct MatrixDescriptor {
  std::size_t first = 0;               // bytes from the start of the shared memory window
  std::size_t leading = 0, stride = 0; // bytes
  Swizzle swizzle = Swizzle::none;
};

// Throws Error if the bits are invalid or describe a layout that the emulator does not support.
MatrixDescriptor decode_matrix(std::uint64_t bits, Location where);

// An operand: `rows` of m or n, a multiple of 8, and `depth` in k.
struct MatrixShape {
  unsigned rows;
  unsigned depth;
  unsigned element_bytes;
  bool by_depth; // whether elements adjacent in k are adjacent in memory (K-major)
};

// The addresses of the matrix's 16-byte units; `first` is the address in the descriptor, not
// swizzled. K-major: unit u of row r has index r * units + u, where a row has `units` units.
// Otherwise unit u of 8 rows has index u * depth + k.
std::vector<std::uintptr_t> units_of(const MatrixDescriptor& matrix, const MatrixShape& shape,
                                     std::uintptr_t first);

} // namespace kg::host
