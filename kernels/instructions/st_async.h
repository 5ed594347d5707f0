// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous stores to the shared memory of a cluster's blocks, which signal their own completion
// (PTX ISA, "st.async"): a thread that has waited for the mbarrier's phase sees the stored values.
// Unlike a cluster barrier, or a remote arrival with release semantics, they do not wait for any of
// the thread's own loads and stores.
//
// Architecture 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "instructions/shared_address.h"
#include "runtime/device_code.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/cooperative_groups.h"
#endif

#include <cstdint>

namespace kg::ptx {

// Stores `value` in block `rank`, at the offset that `to` has in this block. Completes its 8 bytes
// at the mbarrier of that block that has the offset of `barrier`.
#if KG_BACKEND_CUDA

__device__ inline void st_async(float2* to, float2 value, std::uint64_t* barrier, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n .reg .b32 remote, signal;\n mapa.shared::cluster.u32 remote, %0, %4;\n"
               " mapa.shared::cluster.u32 signal, %3, %4;\n"
               " st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [remote], "
               "{%1, %2}, [signal];\n}" ::"r"(shared_address(to)),
               "f"(value.x), "f"(value.y), "r"(shared_address(barrier)), "r"(rank)
               : "memory");
#else
  __trap();
#endif
}

#else

inline void st_async(float2* to, float2 value, std::uint64_t* barrier, unsigned rank,
                     Location where = Location::here()) {
  using Cluster = cooperative_groups::cluster_group;
  *Cluster::map_shared_rank(to, rank, where) = value;
  host::mbarrier_complete_tx(Cluster::map_shared_rank(barrier, rank, where), sizeof value, where);
}

#endif

} // namespace kg::ptx
