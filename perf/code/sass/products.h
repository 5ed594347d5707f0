// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decodes wgmma from HGMMA.64x256x16.F32.BF16 and similar opcodes: 64 rows of A by N columns of B,
// over 32 bytes of K. Each of a warpgroup's four warps accumulates 16 rows.
#pragma once

#include "perf/code/sass/listing.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace kg::sass {

struct Product {
  int columns = 0, depth = 0; // N and K, in elements
  int element_bits = 16;      // of A and B; 32: TF32
  int sum_bits = 32;
  bool a_in_registers = false; // false: in shared memory, like B
  bool closes_group = false;   // gsb0: ends a group that WARPGROUP.DEPBAR counts

  // 4-byte registers per thread.
  int sum_registers() const { return columns * sum_bits / 64; }
  int a_registers() const { return a_in_registers ? 4 : 0; }
  // Multiplications and additions of one of the four warps.
  double operations() const { return 2.0 * 16 * columns * depth; }
  // Shared memory that the four warps read together: B once, and A's 64 rows.
  int shared_bytes() const;
};

// Empty for other instructions, and for unknown shapes: BGMMA and sparse wgmma.
std::optional<Product> product_of(const Instruction& instruction);

// Along the path of a loop's iteration or of a kernel: special-function instructions, and how many
// of them are issued while wgmma is in flight.
struct Overlap {
  int special = 0, beside_products = 0;
};
Overlap overlap_of(const std::vector<Instruction>& code, const std::vector<std::size_t>& path,
                   bool loop);

} // namespace kg::sass
