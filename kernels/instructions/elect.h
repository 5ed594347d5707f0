// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// elect.sync _|p, mask: returns true in one of the lanes that execute it, chosen by the hardware,
// and false in the others (PTX ISA, "Parallel Synchronization and Communication Instructions:
// elect.sync"). On the host each order of threads chooses a different lane.
//
// All lanes of the mask execute it together. Architecture 9.0 and above. A kernel that uses it on
// older architectures traps.
#pragma once

#include "runtime/device_code.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/elect.h"
#endif

namespace kg::ptx {

#if KG_BACKEND_CUDA

__device__ inline bool elect_sync(unsigned mask = ~0u) {
  unsigned chosen = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n .reg .pred p;\n elect.sync _|p, %1;\n selp.u32 %0, 1, 0, p;\n}"
               : "=r"(chosen)
               : "r"(mask)
               : "memory");
#else
  __trap();
#endif
  return chosen != 0;
}

#else

inline bool elect_sync(unsigned mask = ~0u, Location where = Location::here()) {
  return host::elected_lane(mask, "elect_sync", where) ==
         host::running_block("elect_sync", where).lane();
}

#endif

} // namespace kg::ptx
