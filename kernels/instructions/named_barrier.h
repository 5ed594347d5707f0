// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Named barriers: up to 16 per block, each for as many threads as its users say. Barrier 0 is the
// one behind __syncthreads.
//
// PTX ISA, "bar, barrier": `threads` counts every thread that syncs or arrives and is a multiple of
// the warp size; all threads of a warp make the same call. A thread that arrives does not wait: a
// producer arrives when its data is written, the consumers sync before they read it.
#pragma once

#include "runtime/device_code.h"

namespace kg::ptx {

#if KG_BACKEND_CUDA

// Waits until `threads` threads have synced with or arrived at barrier `id`.
__device__ inline void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Counts at barrier `id` without waiting.
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
