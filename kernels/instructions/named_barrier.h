// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Named barriers: up to 16 per block, each for the number of threads that its users specify.
// __syncthreads uses barrier 0.
//
// PTX ISA, "bar, barrier": `threads` counts every thread that syncs or arrives and is a multiple of
// the warp size. All threads of a warp make the same call. A thread that arrives does not wait: a
// producer arrives once its data is written, and the consumers sync before they read the data.
#pragma once

#include "runtime/device_code.h"

namespace kg::ptx {

#if KG_BACKEND_CUDA

// Waits until `threads` threads have synced with or arrived at barrier `id`.
__device__ inline void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Arrives at barrier `id` without waiting.
__device__ inline void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#else

inline void named_barrier_sync(int id, int threads, Location where = Location::here()) {
  host::running_block("named_barrier_sync", where)
      .named_barrier(static_cast<unsigned>(id), static_cast<unsigned>(threads), true, where);
}

inline void named_barrier_arrive(int id, int threads, Location where = Location::here()) {
  host::running_block("named_barrier_arrive", where)
      .named_barrier(static_cast<unsigned>(id), static_cast<unsigned>(threads), false, where);
}

#endif

} // namespace kg::ptx
