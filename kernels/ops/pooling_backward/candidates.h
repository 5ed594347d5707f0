// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Candidates for the maximum of a window, with their positions, as integers. The largest integer is
// the maximum: NaN is above all numbers, and of equals the first position wins. One comparison
// chooses between two candidates, where separate values and positions take four.
#pragma once

#include "instructions/ordered_halves.h"
#include "primitives/stored_pack.h"

#include <climits>
#include <cstdint>
#include <cstring>

namespace kg::pooling_backward {

inline constexpr int kLastPlace = 255;

// For 16-bit elements, the upper half of a key holds the element, the lower half kLastPlace minus
// the position.
template <class T>
class Candidate {
  static_assert(sizeof(T) == 2);

 public:
  Candidate() = default;
  __device__ __forceinline__ void challenge(const Candidate& later) {
    key_ = max(key_, later.key_);
  }
  __device__ __forceinline__ void move_on(int places) { key_ -= places; }
  __device__ __forceinline__ int place() const { return kLastPlace - left(); }
  __device__ __forceinline__ bool is_at(int place) const { return left() == kLastPlace - place; }

  // kStep: distance between the positions of successive elements.
  template <int kStep, int Count>
  __device__ static __forceinline__ void make(Candidate (&candidates)[Count],
                                              const StoredPack<T, Count>& stored, int place) {
    const Pack<T, Count> pack = stored.pack();
    unsigned words[(Count + 1) / 2] = {};
    memcpy(words, &pack, sizeof pack);
    KG_UNROLL
    for (int w = 0; w < (Count + 1) / 2; ++w) {
      const unsigned ordered = ptx::ordered_halves<T>(words[w]);
      const auto left = static_cast<unsigned>(kLastPlace - place - 2 * w * kStep);
      candidates[2 * w].key_ = static_cast<int>((ordered << 16) + left);
      if (2 * w + 1 < Count)
        candidates[2 * w + 1].key_ = static_cast<int>((ordered & 0xffff0000u) | (left - kStep));
    }
  }

 private:
  __device__ __forceinline__ int left() const { return key_ & kLastPlace; }

  int key_ = 0;
};

// An f32 key has no room for the position, so a challenger must have a later position.
template <>
class Candidate<float> {
 public:
  Candidate() = default;
  __device__ __forceinline__ void challenge(const Candidate& later) {
    const bool wins = later.value_ > value_;
    value_ = wins ? later.value_ : value_;
    place_ = wins ? later.place_ : place_;
  }
  __device__ __forceinline__ void move_on(int places) { place_ += places; }
  __device__ __forceinline__ int place() const { return place_; }
  __device__ __forceinline__ bool is_at(int place) const { return place_ == place; }

  template <int kStep, int Count>
  __device__ static __forceinline__ void make(Candidate (&candidates)[Count],
                                              const StoredPack<float, Count>& stored, int place) {
    const Pack<float, Count> pack = stored.pack();
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      const float number = pack.element[e] + 0.0f; // turns -0 into +0
      const int bits = __float_as_int(number);
      candidates[e].value_ = number != number ? INT_MAX : bits ^ ((bits >> 31) & INT_MAX);
      candidates[e].place_ = place + e * kStep;
    }
  }

 private:
  int value_ = 0;
  int place_ = 0;
};

// The candidates of a pack of channels, all at one position.
template <class T, int Count>
class Candidates {
 public:
  Candidates() = default;
  __device__ __forceinline__ Candidates(const StoredPack<T, Count>& stored, int place) {
    Candidate<T>::template make<0>(of_, stored, place);
  }
  __device__ __forceinline__ explicit Candidates(const Candidate<T>& one) : of_{one} {}
  __device__ __forceinline__ void challenge(const Candidates& later) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) of_[e].challenge(later.of_[e]);
  }
  __device__ __forceinline__ void move_on(int places) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) of_[e].move_on(places);
  }
  __device__ __forceinline__ int place(int e) const { return of_[e].place(); }
  __device__ __forceinline__ bool is_at(int e, int place) const { return of_[e].is_at(place); }

 private:
  Candidate<T> of_[Count];
};

} // namespace kg::pooling_backward
