// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous reductions in the shared memory of a cluster's blocks, which signal their own
// completion (PTX ISA, "red.async"):
//   red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.op.type
//   [to], value, [barrier];
// A thread that has waited for the mbarrier's phase sees the new values. Like st.async
// (st_async.h), they do not wait for any of the thread's own loads and stores.
//
// Architecture 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "instructions/reduce_text.h"
#include "instructions/shared_address.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/cooperative_groups.h"
#endif

#include <cstdint>

namespace kg::ptx {

// Combines `value` with the word of block `rank` at the offset that `to` has in this block.
// Completes its bytes at the mbarrier of that block that has the offset of `barrier`. T: integers
// of 32 bits, and sums of 64 bits. On the host, both must be in dynamic shared memory.
#if KG_BACKEND_CUDA

template <ReduceOp op, class T>
__device__ inline void red_async(T* to, T value, std::uint64_t* barrier, unsigned rank) {
  static_assert(kReducesInCluster<op, T>, "no such reduction");
#if __CUDA_ARCH__ >= 900
  if constexpr (sizeof(T) == 4)
    asm volatile("{\n .reg .b32 remote, signal;\n mapa.shared::cluster.u32 remote, %0, %3;\n"
                 " mapa.shared::cluster.u32 signal, %2, %3;\n"
                 " red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.%4.%5 "
                 "[remote], %1, [signal];\n}" ::"r"(shared_address(to)),
                 "r"(value), "r"(shared_address(barrier)), "r"(rank), "C"(ReduceOpText<op>::word),
                 "C"(kReduceType<op, T>)
                 : "memory");
  else
    asm volatile("{\n .reg .b32 remote, signal;\n mapa.shared::cluster.u32 remote, %0, %3;\n"
                 " mapa.shared::cluster.u32 signal, %2, %3;\n"
                 " red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.%4.%5 "
                 "[remote], %1, [signal];\n}" ::"r"(shared_address(to)),
                 "l"(value), "r"(shared_address(barrier)), "r"(rank), "C"(ReduceOpText<op>::word),
                 "C"(kReduceType<op, T>)
                 : "memory");
#else
  __trap();
#endif
}

#else

template <ReduceOp op, class T>
__forceinline__ void red_async(T* to, T value, std::uint64_t* barrier, unsigned rank,
                               Location where = Location::here()) {
  static_assert(kReducesInCluster<op, T>, "no such reduction");
  using Cluster = cooperative_groups::cluster_group;
  host::atomic_update(
      Cluster::map_shared_rank(to, rank, where), [=](T old) { return reduced(op, old, value); },
      where);
  host::mbarrier_complete_tx(Cluster::map_shared_rank(barrier, rank, where), sizeof value, where);
}

#endif

} // namespace kg::ptx
