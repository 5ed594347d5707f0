// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Words as loaded, before they are interpreted as elements.
#pragma once

#include "runtime/device_code.h"

namespace kg::ptx {

// Word: unsigned, or unsigned short.
template <class Word, int Count>
struct alignas(Count * sizeof(Word)) RawWords {
  Word word[Count];
};

// Emits no instruction. The compiler must assume that this changes the complete words, so nothing
// derived from them can be computed earlier.
template <class Word, int Count>
__device__ __forceinline__ void keep_raw(RawWords<Word, Count>& words) {
#if KG_BACKEND_CUDA
  KG_UNROLL
  for (int w = 0; w < Count; ++w) {
    if constexpr (sizeof(Word) == 2)
      asm volatile("" : "+h"(words.word[w]));
    else
      asm volatile("" : "+r"(words.word[w]));
  }
#else
  static_cast<void>(words);
#endif
}

} // namespace kg::ptx
