// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/products.h"

#include "perf/code/sass/pipes.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace kg::sass {
namespace {

constexpr int kRows = 64;

// Bits per element, by opcode. HGMMA takes 16-bit types and TF32.
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
  // Accumulation in f16: HGMMA.64x8x16.F16. The accumulator's type comes first.
  product.sum_bits =
      instruction.opcode == "HGMMA" && instruction.has("F16") && !instruction.has("F32") ? 16 : 32;
  const auto& operands = instruction.operands;
  product.a_in_registers = operands.size() > 1 && operands[1].starts_with('R');
  product.closes_group = std::find(operands.begin(), operands.end(), "gsb0") != operands.end();
  return product;
}

Overlap overlap_of(const std::vector<Instruction>& code, const std::vector<std::size_t>& path,
                   bool loop) {
  Overlap found;
  long groups = 0;                                  // in flight
  bool open = false;                                // wgmma that belongs to no group yet
  for (int pass = loop ? 0 : 1; pass < 2; ++pass) { // the first one yields the state at a start
    found = {};
    for (const std::size_t at : path) {
      const Instruction& one = code[at];
      if (const auto product = product_of(one)) {
        open = !product->closes_group;
        groups += product->closes_group;
      } else if (one.opcode == "WARPGROUP" && one.has("DEPBAR") && one.operands.size() > 1) {
        groups = std::min(groups, std::strtol(one.operands[1].c_str(), nullptr, 0));
      } else if (pipe_of(one) == Pipe::xu) {
        ++found.special;
        found.beside_products += open || groups > 0;
      }
    }
  }
  return found;
}

} // namespace kg::sass
