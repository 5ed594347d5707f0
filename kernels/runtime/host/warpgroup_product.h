// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"): a
// warpgroup (four warps) multiplies A of 64 x K by B of K x N elements and adds the product to the
// accumulators. K spans 32 bytes of elements.
//
// Thread 32 w + 4 r + c holds, for rows 16 w + r + 8 h (h = 0, 1), the sums of columns 8 j + 2 c
// and 8 j + 2 c + 1 in words 4 j + 2 h and 4 j + 2 h + 1; with f16 sums, both are in word 2 j + h.
// A in registers has the layout of mma.h, for rows from 16 w on.
#pragma once

#include "runtime/error.h"
#include "runtime/host/matrix_descriptor.h"

#include <cstdint>
#include <span>

namespace kg::host {

inline constexpr unsigned kWarpgroupSize = 128;
inline constexpr unsigned kRegistersOfA = 4; // words per thread

enum class ElementType : unsigned char { f16, bf16, tf32, e4m3, e5m2, s8, u8 };
enum class SumType : unsigned char { f32, f16, s32 };

constexpr unsigned bytes_of(ElementType type) {
  return type == ElementType::tf32 ? 4 : type <= ElementType::bf16 ? 2 : 1;
}

// An operand in shared memory.
struct MatrixOperand {
  std::uint64_t descriptor = 0;
  std::uintptr_t window = 0; // the address to which the descriptor's address is relative
  bool by_depth = true;      // K-major

  bool operator==(const MatrixOperand&) const = default;
};

// The properties of a product on which all threads of the warpgroup agree.
struct WarpgroupProduct {
  unsigned columns = 8; // N: 8, 16, ... 256
  ElementType a_type = ElementType::bf16, b_type = ElementType::bf16;
  SumType sum_type = SumType::f32;
  bool a_in_registers = false;
  MatrixOperand a, b;
  bool negates_a = false, negates_b = false;
  bool adds = true; // false: the product overwrites the sums (scale-d)

  unsigned words() const { return sum_type == SumType::f16 ? columns / 4 : columns / 2; }
  unsigned depth() const { return 32 / bytes_of(b_type); }
  bool operator==(const WarpgroupProduct&) const = default;
};

// The 16-byte units of an operand that the product reads (matrix_descriptor.h).
std::vector<std::uintptr_t> units_of_a(const WarpgroupProduct& product, Location where);
std::vector<std::uintptr_t> units_of_b(const WarpgroupProduct& product, Location where);

// `sums`: the words of thread 0, then of thread 1, ...; `a_registers` in the same order, empty if A
// is in shared memory. Products are exact and are added in ascending order of k, in f32 or modulo
// 2^32; f16 sums are rounded once, to nearest even. PTX leaves order and width open.
void multiply(const WarpgroupProduct& product, std::span<std::uint32_t> sums,
              std::span<const std::uint32_t> a_registers, Location where);

} // namespace kg::host
