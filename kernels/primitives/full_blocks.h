// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How many registers a kernel may have whose blocks should fill a multiprocessor.
#pragma once

namespace kg {

// Blocks of 256 threads that a multiprocessor holds, for __launch_bounds__: it has room for 1024
// threads before architecture 8.0, for 2048 in 8.0, 9.0 and 10.x, for 1536 in the others.
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
