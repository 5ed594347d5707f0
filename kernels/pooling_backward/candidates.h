// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements that may be the maximum of a window, and where they lie, as integers: the largest is the
// maximum, NaN above all, and of equals the one at the least place. One comparison then chooses
// between two, where values beside places take four.
#pragma once

#include "primitives/stored_pack.h"
#include "ptx/ordered_halves.h"

#include <climits>
#include <cstdint>
#include <cstring>

namespace kg::pooling_backward {

inline constexpr int kLastPlace = 31;

// Of 16-bit elements a key has the element in its upper half and what is left to the last place in
// its lower one.
template <class T, int Count>
class Candidates {
  static_assert(sizeof(T) == 2 && Count % 2 == 0);

 public:
  Candidates() = default;
  __device__ __forceinline__ Candidates(const StoredPack<T, Count>& stored, int place) {
    const Pack<T, Count> pack = stored.pack();
    unsigned words[Count / 2];
    memcpy(words, &pack, sizeof pack);
    const auto left = static_cast<unsigned>(kLastPlace - place);
    KG_UNROLL
    for (int w = 0; w < Count / 2; ++w) {
      const unsigned ordered = ptx::ordered_halves<T>(words[w]);
      key_[2 * w] = static_cast<int>((ordered << 16) + left);
      key_[2 * w + 1] = static_cast<int>((ordered & 0xffff0000u) | left);
    }
  }
  __device__ __forceinline__ void challenge(const Candidates& later) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) key_[e] = max(key_[e], later.key_[e]);
  }
  __device__ int place(int e) const { return kLastPlace - (key_[e] & kLastPlace); }

 private:
  int key_[Count];
};

// An f32 leaves no room for its place, and a challenger must lie behind whom it challenges.
template <int Count>
class Candidates<float, Count> {
 public:
  Candidates() = default;
  __device__ __forceinline__ Candidates(const StoredPack<float, Count>& stored, int place) {
    const Pack<float, Count> pack = stored.pack();
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      const float number = pack.element[e] + 0.0f; // of -0 it is +0
      const int bits = __float_as_int(number);
      value_[e] = number != number ? INT_MAX : bits ^ ((bits >> 31) & INT_MAX);
      place_[e] = place;
    }
  }
  __device__ __forceinline__ void challenge(const Candidates& later) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      const bool wins = later.value_[e] > value_[e];
      value_[e] = wins ? later.value_[e] : value_[e];
      place_[e] = wins ? later.place_[e] : place_[e];
    }
  }
  __device__ int place(int e) const { return place_[e]; }

 private:
  int value_[Count];
  int place_[Count];
};

} // namespace kg::pooling_backward
