// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies and reductions from a block's shared memory into that of a block of its cluster (PTX
// ISA, "cp.async.bulk", "cp.reduce.async.bulk"):
//   cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
//   [to], [from], bytes, [barrier];
//   cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type
//   [to], [from], bytes, [barrier];
// Addresses and bytes are multiples of 16. A thread of the receiving block that has waited for the
// mbarrier's phase sees the bytes. The sender may overwrite `from`, and may end, once it knows of
// that phase, for example by a remote arrival or a cluster barrier. Both blocks need the fences of
// cp_async_bulk.h.
//
// Architecture 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "instructions/reduce_text.h"
#include "instructions/shared_address.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/bulk_copy.h"
#include "runtime/host/cooperative_groups.h"
#endif

#include <cstdint>

namespace kg::ptx {

// cp_async_bulk_to_block: copies `bytes` bytes of this block's shared memory to block `rank`, at
// the offset that `to` has in this block. Completes them at the mbarrier of that block that has the
// offset of `barrier`.
// cp_reduce_async_bulk_to_block: combines the elements there with those of `from`, each atomically.
// T: as in red_async.h. On the host, `to` and `barrier` must be in dynamic shared memory.
#if KG_BACKEND_CUDA

__device__ inline void cp_async_bulk_to_block(void* to, const void* from, unsigned bytes,
                                              std::uint64_t* barrier, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n .reg .b32 remote, signal;\n mapa.shared::cluster.u32 remote, %0, %4;\n"
               " mapa.shared::cluster.u32 signal, %3, %4;\n"
               " cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
               "[remote], [%1], %2, [signal];\n}" ::"r"(shared_address(to)),
               "r"(shared_address(from)), "r"(bytes), "r"(shared_address(barrier)), "r"(rank)
               : "memory");
#else
  __trap();
#endif
}

template <ReduceOp op, class T>
__device__ inline void cp_reduce_async_bulk_to_block(T* to, const T* from, unsigned bytes,
                                                     std::uint64_t* barrier, unsigned rank) {
  static_assert(kReducesInCluster<op, T>, "no such reduction");
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n .reg .b32 remote, signal;\n mapa.shared::cluster.u32 remote, %0, %4;\n"
               " mapa.shared::cluster.u32 signal, %3, %4;\n"
               " cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes."
               "%5.%6 [remote], [%1], %2, [signal];\n}" ::"r"(shared_address(to)),
               "r"(shared_address(from)), "r"(bytes), "r"(shared_address(barrier)), "r"(rank),
               "C"(ReduceOpText<op>::word), "C"(kReduceType<op, T>)
               : "memory");
#else
  __trap();
#endif
}

#else

inline void cp_async_bulk_to_block(void* to, const void* from, unsigned bytes,
                                   std::uint64_t* barrier, unsigned rank,
                                   Location where = Location::here()) {
  using Cluster = cooperative_groups::cluster_group;
  host::bulk_send(Cluster::map_shared_rank(static_cast<unsigned char*>(to), rank, where), from,
                  bytes, Cluster::map_shared_rank(barrier, rank, where), {},
                  "cp_async_bulk_to_block", where);
}

template <ReduceOp op, class T>
void cp_reduce_async_bulk_to_block(T* to, const T* from, unsigned bytes, std::uint64_t* barrier,
                                   unsigned rank, Location where = Location::here()) {
  static_assert(kReducesInCluster<op, T>, "no such reduction");
  using Cluster = cooperative_groups::cluster_group;
  host::bulk_send(Cluster::map_shared_rank(to, rank, where), from, bytes,
                  Cluster::map_shared_rank(barrier, rank, where),
                  host::BulkReduction{op, ReduceTypeOf<T>::value}, "cp_reduce_async_bulk_to_block",
                  where);
}

#endif

} // namespace kg::ptx
