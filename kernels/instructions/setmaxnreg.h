// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// setmaxnreg.{inc, dec}.sync.aligned.u32: the warps of a warpgroup return registers to their
// block's pool, or request more and wait until the pool has enough (PTX ISA, "Miscellaneous
// Instructions: setmaxnreg"). Counts are multiples of 8 from 24 to 256, and the same in all four
// warps. Summed over the threads, they must not exceed the registers that the block started with.
// Otherwise the increase waits forever. The kernel must have __launch_bounds__(threads, 1).
//
// Architecture 9.0a. A kernel that uses them on another architecture traps.
#pragma once

#include "runtime/device_code.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/register_pool.h"
#endif

namespace kg::ptx {

#if KG_BACKEND_CUDA

template <int kCount>
__device__ __forceinline__ void setmaxnreg_dec() {
  static_assert(kCount % 8 == 0 && kCount >= 24 && kCount <= 256, "24 to 256 in steps of 8");
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
#else
  __trap();
#endif
}
template <int kCount>
__device__ __forceinline__ void setmaxnreg_inc() {
  static_assert(kCount % 8 == 0 && kCount >= 24 && kCount <= 256, "24 to 256 in steps of 8");
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
#else
  __trap();
#endif
}

#else

template <int kCount>
void setmaxnreg_dec(Location where = Location::here()) {
  host::set_registers(kCount, false, where);
}
template <int kCount>
void setmaxnreg_inc(Location where = Location::here()) {
  host::set_registers(kCount, true, where);
}

#endif

} // namespace kg::ptx
