// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Drops lines of the L2 cache without writing them back (PTX ISA, "discard"). The contents are
// lost: reads before the next write return arbitrary values. On the host they return poison.
//
// Architecture 8.0 and above. Older architectures leave the line unchanged, which is one of the
// permitted outcomes.
#pragma once

#include "runtime/device_code.h"

#if !KG_BACKEND_CUDA
#include "runtime/memory.h"

#include <cstring>
#endif

namespace kg::ptx {

inline constexpr int kDiscardBytes = 128; // the only size that PTX has

// `line` points to 128 bytes of global memory, aligned to 128 bytes.
__device__ inline void discard_l2(void* line) {
#if !KG_BACKEND_CUDA
  std::memset(line, kPoisonByte, kDiscardBytes);
#elif __CUDA_ARCH__ >= 800
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(__cvta_generic_to_global(line)) : "memory");
#else
  static_cast<void>(line);
#endif
}

} // namespace kg::ptx
