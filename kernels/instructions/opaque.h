// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/device_code.h"

namespace kg::ptx {

// Hides the origin of `value`, 4 or 8 bytes, from the compiler, which then keeps it in a register
// and neither recomputes nor splits it at its uses. Emits no instruction.
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
