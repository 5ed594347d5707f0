// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/device_code.h"

namespace kg::ptx {

// The lanes of a full warp whose lowest Bits bits of `value` equal those of the calling lane, by
// one ballot per bit. MATCH.ANY is one instruction, but takes longer the more distinct values a
// warp holds. With __ballot_sync, nvcc generates a fifth more instructions.
template <int Bits>
__device__ __forceinline__ unsigned match_bits(unsigned value) {
  static_assert(Bits > 0 && Bits < 32);
#if KG_BACKEND_CUDA
  unsigned same = 0xffffffffu;
  KG_UNROLL
  for (int bit = 0; bit < Bits; ++bit) {
    unsigned vote;
    asm volatile("{\n"
                 ".reg .pred set;\n"
                 ".reg .b32 alone;\n"
                 "and.b32 alone, %1, %2;\n"
                 "setp.ne.u32 set, alone, 0;\n"
                 "vote.sync.ballot.b32 %0, set, 0xffffffff;\n"
                 "@!set not.b32 %0, %0;\n"
                 "}"
                 : "=r"(vote)
                 : "r"(value), "r"(1 << bit));
    same &= vote;
  }
  return same;
#else
  return __match_any_sync(0xffffffffu, value & ((1u << Bits) - 1));
#endif
}

} // namespace kg::ptx
