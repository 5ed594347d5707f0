// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a cluster: a barrier of all of their threads, and each other's shared memory (PTX
// ISA, "barrier.cluster" and "mapa"). Not by way of cooperative groups, whose headers take nvcc
// longer than a kernel.
//
// Architecture 9.0 and above. A kernel that uses them on less traps.
#pragma once

#include "instructions/shared_address.h"
#include "runtime/device_code.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/cooperative_groups.h"
#endif

namespace kg::ptx {

#if KG_BACKEND_CUDA

// This block's number among those of its cluster.
__device__ inline unsigned cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#else
  __trap();
#endif
  return rank;
}

// All threads of all blocks wait here; what they wrote to shared memory is seen by all behind it.
// All threads of a warp make the same call.
__device__ inline void cluster_sync() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
#else
  __trap();
#endif
}

// What lies in the dynamic shared memory of block `rank` where `from` lies in this one's.
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
