// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// st.shared.v2 and v4: stores 8 or 16 bytes to shared memory in one access (PTX ISA, "st"). An
// assignment is not enough: next to another one through the same pointer, nvcc (13.0) stores each
// element separately.
#pragma once

#include "instructions/shared_address.h"
#include "runtime/device_code.h"

#if KG_BACKEND_CUDA
#include <cstring>
#endif

namespace kg::ptx {

// `to` is aligned to the size of `value`, which has 8 or 16 bytes and is held in registers.
template <class Value>
__device__ __forceinline__ void store_shared(Value* to, Value value) {
  static_assert(sizeof(Value) == 8 || sizeof(Value) == 16, "one access stores 8 or 16 bytes");
#if KG_BACKEND_CUDA
  unsigned words[sizeof(Value) / sizeof(unsigned)];
  memcpy(words, &value, sizeof value);
  if constexpr (sizeof(Value) == 16)
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(to)),
                 "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
  else
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(shared_address(to)), "r"(words[0]),
                 "r"(words[1])
                 : "memory");
#else
  *to = value;
#endif
}

} // namespace kg::ptx
