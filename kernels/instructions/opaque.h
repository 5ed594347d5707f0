// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/device_code.h"

namespace kg::ptx {

// Hides from the compiler how `value`, of 4 or 8 bytes, came about, so that it is kept in a
// register: neither computed again where it is used nor taken apart. No instruction.
template <class Value>
__device__ __forceinline__ void make_opaque([[maybe_unused]] Value& value) {
#if KG_BACKEND_CUDA
  static_assert(sizeof(Value) == 4 || sizeof(Value) == 8, "one register or two");
  if constexpr (sizeof(Value) == 4)
    asm volatile("" : "+r"(value));
  else
    asm volatile("" : "+l"(value));
#endif
}

} // namespace kg::ptx
