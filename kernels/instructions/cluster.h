// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a cluster: a barrier for all of their threads, and access to each other's shared
// memory (PTX ISA, "barrier.cluster" and "mapa"). Cooperative groups are avoided because their
// headers take nvcc longer than a kernel.
//
// Architecture 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "instructions/shared_address.h"
#include "runtime/device_code.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/cooperative_groups.h"
#endif

namespace kg::ptx {

#if KG_BACKEND_CUDA

// This block's rank in its cluster.
__device__ inline unsigned cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#else
  __trap();
#endif
  return rank;
}

// All threads of all blocks wait here. Afterwards, every thread sees what the others wrote to
// shared memory before. All threads of a warp make the same call.
__device__ inline void cluster_sync() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
#else
  __trap();
#endif
}

// Loads from block `rank`, at the offset that `from` has in this block's dynamic shared memory.
__device__ inline float load_from_block(const float* from, unsigned rank) {
  float value = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n .reg .b32 remote;\n mapa.shared::cluster.u32 remote, %1, %2;\n"
               " ld.shared::cluster.f32 %0, [remote];\n}"
               : "=f"(value)
               : "r"(shared_address(from)), "r"(rank)
               : "memory");
#else
  __trap();
#endif
  return value;
}

#else

inline unsigned cluster_rank() { return cooperative_groups::cluster_group::block_rank(); }
inline void cluster_sync(Location where = Location::here()) {
  cooperative_groups::cluster_group::sync(where);
}
inline float load_from_block(const float* from, unsigned rank, Location where = Location::here()) {
  return *cooperative_groups::cluster_group::map_shared_rank(from, rank, where);
}

#endif

} // namespace kg::ptx
