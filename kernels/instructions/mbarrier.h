// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// mbarriers: 64-bit words in shared memory, aligned to 8 bytes, that count arrivals and bytes (PTX
// ISA, "mbarrier"). A phase ends when mbarrier_init()'s number of threads have arrived, as well as
// all expected bytes. Its parity is 0 for the first phase, then 1, 0, ... A wait for parity 1
// before the first phase has ended returns at once, which suits a producer whose ring is empty.
//
// One thread initializes the barrier; after a block-wide barrier the others may use it. Before bulk
// copies or other blocks use it, that thread also executes fence_mbarrier_init(). Arrivals have
// release and waits have acquire semantics, within the block.
//
// Architecture 8.0 and above; expect_tx, complete_tx and arrivals at other blocks of the cluster
// 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "instructions/shared_address.h"
#include "runtime/device_code.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/cooperative_groups.h"
#include "runtime/host/proxy.h"
#endif

#include <cstdint>

namespace kg::ptx {

// Identifies the phase that an arrival belongs to.
using MbarrierToken = std::uint64_t;

#if KG_BACKEND_CUDA

// `count` arrivals (1 to 2^20 - 1) end a phase.
__device__ inline void mbarrier_init(std::uint64_t* barrier, unsigned count) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
#else
  __trap();
#endif
}

// Makes the thread's mbarrier_init() visible to bulk copies and, after a cluster barrier, to other
// blocks of the cluster (PTX ISA, "fence.mbarrier_init").
__device__ inline void fence_mbarrier_init() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
  __trap();
#endif
}

// Invalidates the barrier: its word may be reused.
__device__ inline void mbarrier_inval(std::uint64_t* barrier) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
#else
  __trap();
#endif
}

__device__ inline MbarrierToken mbarrier_arrive(std::uint64_t* barrier) {
  MbarrierToken token = 0;
#if __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
               : "=l"(token)
               : "r"(shared_address(barrier))
               : "memory");
#else
  __trap();
#endif
  return token;
}

// Arrives for `count` threads.
__device__ inline MbarrierToken mbarrier_arrive(std::uint64_t* barrier, unsigned count) {
#if __CUDA_ARCH__ >= 900
  MbarrierToken token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;"
               : "=l"(token)
               : "r"(shared_address(barrier)), "r"(count)
               : "memory");
  return token;
#elif __CUDA_ARCH__ >= 800
  // With a count, 8.0 has only noComplete, which must not end the phase; the last arrival may.
  if (count > 1) {
    [[maybe_unused]] MbarrierToken unused;
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
                 : "=l"(unused)
                 : "r"(shared_address(barrier)), "r"(count - 1)
                 : "memory");
  }
  return mbarrier_arrive(barrier);
#else
  __trap();
  return 0;
#endif
}

// Arrives, and reduces by one the arrivals that later phases expect.
__device__ inline MbarrierToken mbarrier_arrive_drop(std::uint64_t* barrier) {
  MbarrierToken token = 0;
#if __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
               : "=l"(token)
               : "r"(shared_address(barrier))
               : "memory");
#else
  __trap();
#endif
  return token;
}

// Adds `bytes` to those that the phase expects, then arrives.
__device__ inline MbarrierToken mbarrier_arrive_expect_tx(std::uint64_t* barrier, unsigned bytes) {
  MbarrierToken token = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
               : "=l"(token)
               : "r"(shared_address(barrier)), "r"(bytes)
               : "memory");
#else
  __trap();
#endif
  return token;
}

// Adds `bytes` to those that the phase expects.
__device__ inline void mbarrier_expect_tx(std::uint64_t* barrier, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
#else
  __trap();
#endif
}

// Counts `bytes` as arrived, as an asynchronous bulk copy does by itself.
__device__ inline void mbarrier_complete_tx(std::uint64_t* barrier, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
#else
  __trap();
#endif
}

// Whether the token's phase has ended. By parity: the current phase, or the one before it.
__device__ inline bool mbarrier_test_wait(std::uint64_t* barrier, MbarrierToken token) {
  unsigned ended = 0;
#if __CUDA_ARCH__ >= 800
  asm volatile("{\n .reg .pred p;\n mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
               " selp.u32 %0, 1, 0, p;\n}"
               : "=r"(ended)
               : "r"(shared_address(barrier)), "l"(token)
               : "memory");
#else
  __trap();
#endif
  return ended != 0;
}
__device__ inline bool mbarrier_test_wait_parity(std::uint64_t* barrier, unsigned parity) {
  unsigned ended = 0;
#if __CUDA_ARCH__ >= 800
  asm volatile("{\n .reg .pred p;\n mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
               " selp.u32 %0, 1, 0, p;\n}"
               : "=r"(ended)
               : "r"(shared_address(barrier)), "r"(parity)
               : "memory");
#else
  __trap();
#endif
  return ended != 0;
}

// The same, but may wait for a short time.
__device__ inline bool mbarrier_try_wait(std::uint64_t* barrier, MbarrierToken token) {
  unsigned ended = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.shared::cta.b64 p, [%1], %2;\n"
               " selp.u32 %0, 1, 0, p;\n}"
               : "=r"(ended)
               : "r"(shared_address(barrier)), "l"(token)
               : "memory");
#else
  ended = mbarrier_test_wait(barrier, token);
#endif
  return ended != 0;
}
__device__ inline bool mbarrier_try_wait_parity(std::uint64_t* barrier, unsigned parity) {
  unsigned ended = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
               " selp.u32 %0, 1, 0, p;\n}"
               : "=r"(ended)
               : "r"(shared_address(barrier)), "r"(parity)
               : "memory");
#else
  ended = mbarrier_test_wait_parity(barrier, parity);
#endif
  return ended != 0;
}

__device__ inline void mbarrier_wait(std::uint64_t* barrier, MbarrierToken token) {
  while (!mbarrier_try_wait(barrier, token)) {
  }
}
__device__ inline void mbarrier_wait_parity(std::uint64_t* barrier, unsigned parity) {
  while (!mbarrier_try_wait_parity(barrier, parity)) {
  }
}

// Arrives at the barrier in block `rank` of the cluster that has the offset of `barrier` here.
__device__ inline void mbarrier_arrive_cluster(std::uint64_t* barrier, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n .reg .b32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
               " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(
                   shared_address(barrier)),
               "r"(rank)
               : "memory");
#else
  __trap();
#endif
}

// The same for a thread that has only read what the others wait to overwrite. They need not see its
// writes, so it avoids the fence of all memory that the form above includes. The reads must have
// completed: those of wgmma complete at its wait_group. On the host both forms are the same.
__device__ inline void mbarrier_arrive_cluster_after_reads(std::uint64_t* barrier, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n .reg .b32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
      " mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
#else
  __trap();
#endif
}

#else

inline void mbarrier_init(std::uint64_t* barrier, unsigned count,
                          Location where = Location::here()) {
  host::mbarrier_init(barrier, count, where);
}
inline void fence_mbarrier_init() { host::proxy_fence(host::Proxy::mbarrier_init); }
inline void mbarrier_inval(std::uint64_t* barrier, Location where = Location::here()) {
  host::mbarrier_inval(barrier, where);
}
inline MbarrierToken mbarrier_arrive(std::uint64_t* barrier, Location where = Location::here()) {
  return host::mbarrier_arrive(barrier, 1, 0, where);
}
inline MbarrierToken mbarrier_arrive(std::uint64_t* barrier, unsigned count,
                                     Location where = Location::here()) {
  return host::mbarrier_arrive(barrier, count, 0, where);
}
inline MbarrierToken mbarrier_arrive_drop(std::uint64_t* barrier,
                                          Location where = Location::here()) {
  return host::mbarrier_arrive_drop(barrier, where);
}
inline MbarrierToken mbarrier_arrive_expect_tx(std::uint64_t* barrier, unsigned bytes,
                                               Location where = Location::here()) {
  return host::mbarrier_arrive(barrier, 1, bytes, where);
}
inline void mbarrier_expect_tx(std::uint64_t* barrier, unsigned bytes,
                               Location where = Location::here()) {
  host::mbarrier_expect_tx(barrier, bytes, where);
}
inline void mbarrier_complete_tx(std::uint64_t* barrier, unsigned bytes,
                                 Location where = Location::here()) {
  host::mbarrier_complete_tx(barrier, bytes, where);
}
inline bool mbarrier_try_wait(std::uint64_t* barrier, MbarrierToken token,
                              Location where = Location::here()) {
  return host::mbarrier_test(barrier, host::mbarrier_parity(token), where);
}
inline bool mbarrier_test_wait(std::uint64_t* barrier, MbarrierToken token,
                               Location where = Location::here()) {
  return host::mbarrier_test(barrier, host::mbarrier_parity(token), where);
}
inline bool mbarrier_test_wait_parity(std::uint64_t* barrier, unsigned parity,
                                      Location where = Location::here()) {
  return host::mbarrier_test(barrier, parity, where);
}
inline bool mbarrier_try_wait_parity(std::uint64_t* barrier, unsigned parity,
                                     Location where = Location::here()) {
  return host::mbarrier_test(barrier, parity, where);
}
inline void mbarrier_wait(std::uint64_t* barrier, MbarrierToken token,
                          Location where = Location::here()) {
  host::mbarrier_wait(barrier, host::mbarrier_parity(token), where);
}
inline void mbarrier_wait_parity(std::uint64_t* barrier, unsigned parity,
                                 Location where = Location::here()) {
  host::mbarrier_wait(barrier, parity, where);
}
inline void mbarrier_arrive_cluster(std::uint64_t* barrier, unsigned rank,
                                    Location where = Location::here()) {
  host::mbarrier_arrive(cooperative_groups::cluster_group::map_shared_rank(barrier, rank, where), 1,
                        0, where);
}
inline void mbarrier_arrive_cluster_after_reads(std::uint64_t* barrier, unsigned rank,
                                                Location where = Location::here()) {
  mbarrier_arrive_cluster(barrier, rank, where);
}

#endif

} // namespace kg::ptx
