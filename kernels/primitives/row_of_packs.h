// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A row segment for sliding windows: adjacent packs, plus one element before and after them if the
// windows reach that far. These two are loaded separately and hit L1, since neighbouring lanes load
// the packs that contain them.
#pragma once

#include "primitives/unpack_pairs.h"

namespace kg {

// kBefore, kBehind: elements before and after the packs, 0 or 1.
template <class T, int kPacks, int kBefore, int kBehind>
class RowOfPacks {
  static constexpr int kCount = kPackElements<T>;

 public:
  static constexpr int kElements = kBefore + kPacks * kCount + kBehind;

  // from: the first element of the packs. Missing elements are set to `outside`.
  __device__ __forceinline__ void load(const T* from, bool is_there, bool has_before,
                                       bool has_behind, T outside) {
    Pack<T, kCount> pack;
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) pack.element[e] = outside;
    KG_UNROLL
    for (int p = 0; p < kPacks; ++p) packs_[p].set(pack);
    beside_[0].set({outside});
    beside_[1].set({outside});
    if (!is_there) return;
    KG_UNROLL
    for (int p = 0; p < kPacks; ++p) packs_[p].load(from + p * kCount);
    if (kBefore > 0 && has_before) beside_[0].load(from - 1);
    if (kBehind > 0 && has_behind) beside_[1].load(from + kPacks * kCount);
  }
  // Same as loaded() for packs: all loads have been issued.
  __device__ __forceinline__ void loaded() {
    kg::loaded(packs_);
    kg::loaded(beside_);
  }
  // All elements as f32, starting with the one before the packs.
  __device__ __forceinline__ Floats<kElements> widened() const {
    Floats<kElements> result;
    if (kBefore > 0) result.value[0] = kg::widened(beside_[0]).value[0];
    KG_UNROLL
    for (int p = 0; p < kPacks; ++p) {
      const Floats<kCount> pack = unpack_pairs(packs_[p]);
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) result.value[kBefore + p * kCount + e] = pack.value[e];
    }
    if (kBehind > 0) result.value[kElements - 1] = kg::widened(beside_[1]).value[0];
    return result;
  }

 private:
  StoredPack<T, kCount> packs_[kPacks];
  StoredPack<T, 1> beside_[2];
};

} // namespace kg
