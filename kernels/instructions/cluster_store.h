// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a block tells the others of its cluster: stores to their shared memory, and the cluster's
// barrier in two steps, so that nobody waits for them to arrive (PTX ISA, "mapa" and
// "barrier.cluster"; cluster.h).
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

// What lies in the dynamic shared memory of block `rank` where `to` lies in this one's becomes this
// value. Its threads see it behind the cluster's next barrier.
__device__ inline void store_to_block(float* to, unsigned rank, float value) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n .reg .b32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
               " st.shared::cluster.f32 [remote], %2;\n}" ::"r"(shared_address(to)),
               "r"(rank), "f"(value)
               : "memory");
#else
  __trap();
#endif
}

// cluster_sync() in two steps: what a thread does between them, nobody waits for. All threads of a
// warp make the same calls.
__device__ inline void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#else
  __trap();
#endif
}
__device__ inline void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __trap();
#endif
}

#else

inline void store_to_block(float* to, unsigned rank, float value,
                           Location where = Location::here()) {
  *cooperative_groups::cluster_group::map_shared_rank(to, rank, where) = value;
}
inline void cluster_arrive(Location where = Location::here()) {
  cooperative_groups::cluster_group::barrier_arrive(where);
}
inline void cluster_wait(Location where = Location::here()) {
  cooperative_groups::cluster_group::barrier_wait(where);
}

#endif

} // namespace kg::ptx
