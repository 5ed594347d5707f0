// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where wgmma's operands lie, by the canonical layouts that CUTLASS writes as nested shapes and
// strides (include/cute/arch/mma_sm90_desc.hpp): an index is taken apart by the extents, the first
// fastest, and each part goes on by its stride. An oracle: it shares no code with the executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kg::warpgroup {

struct Mode {
  std::size_t extent, stride; // bytes; the last mode's extent is open
};

inline std::size_t along(const std::vector<Mode>& modes, std::size_t index) {
  std::size_t offset = 0;
  for (const Mode& mode : modes) {
    const bool last = &mode == &modes.back();
    offset += (last ? index : index % mode.extent) * mode.stride;
    if (!last) index /= mode.extent;
  }
  return offset;
}

struct Layout {
  unsigned swizzle; // bytes: 0, 32, 64 or 128
  bool by_depth;    // K-major
  unsigned element_bytes;
  std::size_t leading, stride; // bytes

  // Of element k of row `row` (of m, or of n), from the beginning of the tile.
  std::size_t offset(std::size_t row, std::size_t k) const {
    const std::size_t element = element_bytes, unit = 16 / element, width = swizzle / 16;
    std::vector<Mode> rows, depth;
    if (by_depth) {
      rows = {{8, swizzle == 0 ? 16 : swizzle}, {0, stride}};
      depth = {{unit, element}, {0, swizzle == 0 ? leading : 16}};
    } else if (swizzle == 0) {
      rows = {{unit, element}, {1, 16}, {0, stride}};
      depth = {{8, 16}, {0, leading}};
    } else {
      rows = {{unit, element}, {width, 16}, {0, leading}};
      depth = {{8, swizzle}, {0, stride}};
    }
    std::size_t at = along(rows, row) + along(depth, k);
    for (std::size_t bit = 1; bit < width; bit *= 2) // bits 4, 5, 6 change where 7, 8, 9 are set
      if (at / (128 * bit) % 2 == 1) at = at / (16 * bit) % 2 == 1 ? at - 16 * bit : at + 16 * bit;
    return at;
  }

  // Of a matrix that begins at byte `first` of shared memory.
  std::uint64_t descriptor(std::size_t first) const {
    const std::uint64_t code = swizzle == 0 ? 0 : swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
    return first / 16 + (leading / 16 << 16) + (static_cast<std::uint64_t>(stride / 16) << 32) +
           (code << 62);
  }
};

// Tiles that follow each other without a gap, `rows` by `depth`: `depth` one instruction deep.
inline Layout packed(unsigned swizzle, bool by_depth, unsigned element_bytes, std::size_t rows) {
  if (by_depth)
    return swizzle == 0 ? Layout{0, true, element_bytes, rows * 16, 128}
                        : Layout{swizzle, true, element_bytes, 16, std::size_t{8} * swizzle};
  if (swizzle == 0) return {0, false, element_bytes, rows * 16, 128};
  const std::size_t depth = 32 / element_bytes; // of a panel as wide as the swizzle
  return {swizzle, false, element_bytes, depth * swizzle, std::size_t{8} * swizzle};
}

} // namespace kg::warpgroup
