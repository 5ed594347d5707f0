// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a warpgroup multiplies (wgmma), read from HGMMA.64x256x16.F32.BF16 and its like: 64 rows of
// A by N columns of B, over 32 bytes of k. Each of its four warps has 16 rows of the sums.
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
  bool a_in_registers = false; // else in shared memory, as B
  bool closes_group = false;   // gsb0: WARPGROUP.DEPBAR counts from here

  // Registers of a thread, of 4 bytes.
  int sum_registers() const { return columns * sum_bits / 64; }
  int a_registers() const { return a_in_registers ? 4 : 0; }
  // Multiplications and additions of one of the four warps.
  double operations() const { return 2.0 * 16 * columns * depth; }
  // What the four warps read of shared memory together: B once, and A's 64 rows.
  int shared_bytes() const;
};

// Nothing for other instructions, and for products whose shape is not known: BGMMA, sparse ones.
std::optional<Product> product_of(const Instruction& instruction);

// Of the path of a loop's pass, or of a kernel: instructions of the special functions' unit, and
// how many of them are issued while products are under way.
struct Overlap {
  int special = 0, beside_products = 0;
};
Overlap overlap_of(const std::vector<Instruction>& code, const std::vector<std::size_t>& path,
                   bool loop);

} // namespace kg::sass
