// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/products.h"

#include <algorithm>
#include <cstdio>

namespace kg::sass {
namespace {

constexpr int kRows = 64;

// Bits of an element, by the opcode; HGMMA takes 16-bit types and TF32.
int element_bits_of(const Instruction& one) {
  if (one.opcode == "HGMMA") return one.has("TF32") ? 32 : 16;
  if (one.opcode == "QGMMA" || one.opcode == "IGMMA") return 8;
  return 0;
}

} // namespace

int Product::shared_bytes() const {
  const int rows = columns + (a_in_registers ? 0 : kRows);
  return rows * depth * element_bits / 8;
}

std::optional<Product> product_of(const Instruction& instruction) {
  Product product;
  product.element_bits = element_bits_of(instruction);
  if (product.element_bits == 0 || instruction.modifiers.empty() || instruction.has("SP"))
    return std::nullopt;
  int rows = 0;
  if (std::sscanf(instruction.modifiers.front().c_str(), "%dx%dx%d", &rows, &product.columns,
                  &product.depth) != 3 ||
      rows != kRows)
    return std::nullopt;
  // Sums in f16: HGMMA.64x8x16.F16. The sums' type comes first.
  product.sum_bits =
      instruction.opcode == "HGMMA" && instruction.has("F16") && !instruction.has("F32") ? 16 : 32;
  const auto& operands = instruction.operands;
  product.a_in_registers = operands.size() > 1 && operands[1].starts_with('R');
  product.closes_group = std::find(operands.begin(), operands.end(), "gsb0") != operands.end();
  return product;
}

} // namespace kg::sass
