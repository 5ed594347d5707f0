// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The extents of the tiles of transpose_unaligned.h, without its device code, for tests.
#pragma once

#include <algorithm>

namespace kg {

// Tiles of elements `Bits`: kA of them along rows of the source, kB along those of the result.
template <class Bits>
struct UnalignedTile {
  static constexpr int kElement = static_cast<int>(sizeof(Bits));
  static constexpr int kWord = std::max(kElement, 4); // bytes of a copy
  static constexpr int kInWord = kWord / kElement;
  static constexpr int kWords = 64;                         // per row of the source
  static constexpr int kA = kWords * kInWord - kInWord + 1; // wherever the first word begins
  static constexpr int kB = std::min(256 / kElement, 128);
  static constexpr int kSector = 32 / kElement;
  static constexpr int kRows = kB + kSector - 1;
  static constexpr int kLeastPitch = kWords * kInWord;
  static constexpr int kPlaces = kRows * (kLeastPitch + kSector);
  static constexpr int kThreads = 256;
};

} // namespace kg
