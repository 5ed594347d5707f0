// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/matrix_descriptor.h"

#include "runtime/host/swizzle.h"

#include <fmt/format.h>

namespace kg::host {
namespace {

constexpr std::size_t kUnit = 16; // bytes
constexpr unsigned kCoreRows = 8; // of a core matrix
constexpr std::uint64_t kKnown = 0xC00E3FFF3FFF3FFFull;

Swizzle swizzle_of(std::uint64_t code) {
  switch (code) {
  case 1: return Swizzle::bytes128;
  case 2: return Swizzle::bytes64;
  case 3: return Swizzle::bytes32;
  default: return Swizzle::none;
  }
}

} // namespace

MatrixDescriptor decode_matrix(std::uint64_t bits, Location where) {
  if ((bits & ~kKnown) != 0)
    fail(fmt::format("matrix descriptor 0x{:016x} has bits that mean nothing (0x{:x}); mask the "
                     "address by 0x3ffff before it is shifted, and each field by 0x3fff",
                     bits, bits & ~kKnown),
         where);
  const auto field = [&](unsigned shift) { return (bits >> shift & 0x3FFF) * kUnit; };
  const MatrixDescriptor matrix{field(0), field(16), field(32), swizzle_of(bits >> 62)};
  const std::uint64_t base = bits >> 49 & 7;
  if (base != 0)
    fail(fmt::format("matrix descriptor 0x{:016x} has the base offset {}, which is not executed; "
                     "let the tile begin at a multiple of 1024 bytes and leave it 0",
                     bits, base),
         where);
  return matrix;
}

std::vector<std::uintptr_t> units_of(const MatrixDescriptor& matrix, const MatrixShape& shape,
                                     std::uintptr_t first) {
  std::vector<std::uintptr_t> units;
  const std::size_t row = bytes_of(matrix.swizzle);
  const auto add = [&](std::size_t offset) {
    units.push_back(swizzled(first + offset, matrix.swizzle));
  };
  const std::size_t in_unit = kUnit / shape.element_bytes;
  if (shape.by_depth) {
    for (std::size_t r = 0; r < shape.rows; ++r) {
      const std::size_t core = r / kCoreRows * matrix.stride;
      for (std::size_t unit = 0; unit < shape.depth / in_unit; ++unit)
        add(row == 0 ? core + r % kCoreRows * kUnit + unit * matrix.leading
                     : core + r % kCoreRows * row + unit * kUnit);
    }
    return units;
  }
  // Without a swizzle the two offsets swap their roles.
  const std::size_t across = row == 0 ? 1 : row / kUnit; // units of m or n in a row of the pattern
  const std::size_t to_next = row == 0 ? matrix.stride : matrix.leading;
  const std::size_t to_deeper = row == 0 ? matrix.leading : matrix.stride;
  for (std::size_t unit = 0; unit < shape.rows / in_unit; ++unit)
    for (std::size_t k = 0; k < shape.depth; ++k)
      add(unit % across * kUnit + unit / across * to_next +
          k % kCoreRows * (row == 0 ? kUnit : row) + k / kCoreRows * to_deeper);
  return units;
}

} // namespace kg::host
