// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Boxes of small tensors, and where each element of one lies, written out element by element.
#pragma once

#include "runtime/host/tensor_map.h"

#include <array>
#include <cstring>
#include <vector>

namespace kg::bulk {

using Coordinates = std::array<std::int32_t, host::kMaxTensorRank>;

inline constexpr std::size_t kTensorBytes = 64 * 1024;

// A tensor of u16 whose rows are longer than what it names, of this rank.
inline host::TiledTensor small_tensor(void* base, unsigned rank) {
  host::TiledTensor t;
  t.type = host::TensorType::u16;
  t.rank = rank;
  t.base = base;
  t.extent = {50, 7, 5, 3, 2};
  t.stride = {112, 112 * 8, 112 * 8 * 5, 112 * 8 * 5 * 3};
  t.box = {16, 4, 2, 2, 2};
  return t;
}

// The same with rows of the box as wide as the swizzle allows.
inline host::TiledTensor small_tensor(void* base, unsigned rank, host::Swizzle swizzle) {
  host::TiledTensor t = small_tensor(base, rank);
  t.swizzle = swizzle;
  if (swizzle == host::Swizzle::bytes64) t.box[0] = 32;
  if (swizzle == host::Swizzle::bytes128) t.box[0] = 64;
  return t;
}

// Origins of boxes: within, at the start, ragged at every edge, and wholly outside.
inline constexpr std::array<Coordinates, 7> kOrigins = {{{8, 1, 1, 0, 0},
                                                         {0, 0, 0, 0, 0},
                                                         {-3, -1, -1, -1, -1},
                                                         {45, 5, 4, 2, 1},
                                                         {-70, 0, 0, 0, 0},
                                                         {50, 7, 5, 3, 2},
                                                         {1 << 30, -(1 << 30), 0, 0, 0}}};

// The unit of 16 bytes at which unit `u` of the 8 of line `line`, 128 bytes long, lies.
inline unsigned unit_of(host::Swizzle swizzle, unsigned line, unsigned u) {
  static constexpr unsigned kOf128[8][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6},
                                            {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
                                            {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                                            {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
  switch (swizzle) {
  case host::Swizzle::none: return u;
  case host::Swizzle::bytes32: return kOf128[line % 2][u];
  case host::Swizzle::bytes64: return kOf128[line % 4][u];
  case host::Swizzle::bytes128: return kOf128[line % 8][u];
  }
  return u;
}

// Visits the elements of a box, dimension 0 first: visit(index in shared memory, byte within the
// tensor, whether it is inside of it).
template <class Visit>
void for_each_element(const host::TiledTensor& t, const Coordinates& first, const Visit& visit) {
  unsigned n = 0;
  std::array<std::int64_t, 5> at{}, steps{1, 1, 1, 1, 1}, end{1, 1, 1, 1, 1};
  for (unsigned i = 0; i < t.rank; ++i) {
    if (i > 0) steps[i] = t.element_stride[i];
    end[i] = t.box[i];
  }
  for (at[4] = 0; at[4] < end[4]; at[4] += steps[4])
    for (at[3] = 0; at[3] < end[3]; at[3] += steps[3])
      for (at[2] = 0; at[2] < end[2]; at[2] += steps[2])
        for (at[1] = 0; at[1] < end[1]; at[1] += steps[1])
          for (at[0] = 0; at[0] < end[0]; ++at[0], ++n) {
            bool inside = true;
            std::int64_t byte = 0;
            for (unsigned i = 0; i < t.rank; ++i) {
              const std::int64_t index = first[i] + at[i];
              inside = inside && index >= 0 && index < static_cast<std::int64_t>(t.extent[i]);
              byte += index * (i == 0 ? 2 : static_cast<std::int64_t>(t.stride[i - 1]));
            }
            const unsigned unit = n / 8;
            visit(unit / 8 * 64 + unit_of(t.swizzle, unit / 8, unit % 8) * 8 + n % 8, byte, inside);
          }
}

// What `box` elements of shared memory hold when the box has come; 0xABAB where nothing has.
inline std::vector<unsigned short> loaded_box(const host::TiledTensor& t, const Coordinates& first,
                                              const void* tensor, std::size_t elements) {
  std::vector<unsigned short> box(elements, 0xABAB);
  for_each_element(t, first, [&](unsigned place, std::int64_t byte, bool inside) {
    box[place] = t.fills_with_nan ? 0xFFFF : 0;
    if (inside) std::memcpy(&box[place], static_cast<const char*>(tensor) + byte, 2);
  });
  return box;
}

} // namespace kg::bulk
