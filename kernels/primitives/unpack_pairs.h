// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Packs as floats, two elements of a word at a time.
#pragma once

#include "primitives/stored_pack.h"

#include <cstring>
#include <type_traits>

namespace kg {

// What `widened` gives, of two bf16 in two instructions: of that nvcc (13.0) makes a third one,
// which moves the upper one down before it is moved up again.
template <class T, int Count>
__device__ __forceinline__ Floats<Count> widened_by_words(StoredPack<T, Count> stored) {
  if constexpr (std::is_same_v<T, bf16> && Count % 2 == 0) {
    const Pack<T, Count> pack = stored.pack();
    unsigned words[Count / 2];
    memcpy(words, &pack, sizeof pack);
    Floats<Count> result;
    KG_UNROLL
    for (int w = 0; w < Count / 2; ++w) {
      result.value[2 * w] = __uint_as_float(words[w] << 16);
      result.value[2 * w + 1] = __uint_as_float(words[w] & 0xffff0000u);
    }
    return result;
  } else {
    return widened(stored);
  }
}

} // namespace kg
