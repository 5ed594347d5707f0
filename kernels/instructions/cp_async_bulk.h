// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cp.async.bulk: copies of many bytes that one thread issues (PTX ISA, "Data Movement and
// Conversion Instructions: cp.async.bulk", "cp.async.bulk.commit_group",
// "cp.async.bulk.wait_group"):
//   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes,
//   [barrier]; cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes;
// Addresses and bytes are multiples of 16.
//
// Into shared memory: a thread that has waited for the mbarrier's phase sees the bytes, all of
// which mbarrier_expect_tx must have announced. Out of shared memory: a thread commits its copies
// in groups and waits for them; other threads wait for that thread. Before a copy reads the results
// of ordinary stores, it needs fence_proxy_async_shared(). The mbarrier needs
// fence_mbarrier_init(). On the host, runtime/host/bulk_copy.h moves the bytes.
//
// Architecture 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "instructions/shared_address.h"
#include "runtime/device_code.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/bulk_copy.h"
#endif

#include <cstdint>

namespace kg::ptx {

#if KG_BACKEND_CUDA

// Copies from global to this block's shared memory; completes `bytes` at `barrier`.
__device__ inline void cp_async_bulk_load(void* to, const void* from, unsigned bytes,
                                          std::uint64_t* barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
#else
  __trap();
#endif
}

// Copies from this block's shared memory to global memory.
__device__ inline void cp_async_bulk_store(void* to, const void* from, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
#else
  __trap();
#endif
}

// Commits the thread's stores since the last commit as one group.
__device__ inline void cp_async_bulk_commit() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
  __trap();
#endif
}

// Waits until all but the latest `Pending` groups of the thread have written global memory.
template <int Pending>
__device__ inline void cp_async_bulk_wait_group() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
#else
  __trap();
#endif
}

// Waits until all but the latest `Pending` groups of the thread have read shared memory, which may
// then be overwritten.
template <int Pending>
__device__ inline void cp_async_bulk_wait_group_read() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
#else
  __trap();
#endif
}

#else

inline void cp_async_bulk_load(void* to, const void* from, unsigned bytes, std::uint64_t* barrier,
                               Location where = Location::here()) {
  host::bulk_load(to, from, bytes, barrier, "cp_async_bulk_load", where);
}
inline void cp_async_bulk_store(void* to, const void* from, unsigned bytes,
                                Location where = Location::here()) {
  host::bulk_store(to, from, bytes, "cp_async_bulk_store", where);
}
inline void cp_async_bulk_commit(Location where = Location::here()) {
  host::bulk_commit("cp_async_bulk_commit", where);
}
template <int Pending>
inline void cp_async_bulk_wait_group(Location where = Location::here()) {
  host::bulk_wait_group(Pending, false, "cp_async_bulk_wait_group", where);
}
template <int Pending>
inline void cp_async_bulk_wait_group_read(Location where = Location::here()) {
  host::bulk_wait_group(Pending, true, "cp_async_bulk_wait_group_read", where);
}

#endif

} // namespace kg::ptx
