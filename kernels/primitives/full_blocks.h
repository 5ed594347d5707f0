// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Occupancy bound for kernels that should fill a multiprocessor.
#pragma once

namespace kg {

// Blocks of 256 threads per multiprocessor, for __launch_bounds__. A multiprocessor holds 1024
// threads before architecture 8.0, 2048 on 8.0, 9.0 and 10.x, and 1536 on the others.
constexpr int full_blocks() {
#if !defined(__CUDA_ARCH__)
  return 8;
#elif __CUDA_ARCH__ < 800
  return 4;
#elif __CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 || __CUDA_ARCH__ / 100 == 10
  return 8;
#else
  return 6;
#endif
}

} // namespace kg
