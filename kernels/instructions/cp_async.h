// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cp.async: copies of 4, 8 or 16 bytes from global to shared memory that a thread issues now and
// waits for later (PTX ISA, "cp.async" and its related instructions). Both addresses are aligned to
// the copied bytes. A thread waits for its own copies only; other threads may read the data after a
// barrier that follows the wait. The host implementation is in runtime/host/async_copy.h.
//
// Architectures before 8.0 lack the instruction: the copy is then synchronous.
#pragma once

#include "instructions/shared_pointer.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::ptx {

#if KG_BACKEND_CUDA

namespace detail {

// A synchronous copy, for architectures without the instruction. It is a single access if all bytes
// are read.
template <int Bytes>
__device__ inline void copy_now(void* to, const void* from, int source_bytes) {
  struct alignas(Bytes) Chunk {
    unsigned char byte[Bytes];
  };
  Chunk chunk;
  if (source_bytes == Bytes) {
    chunk = *static_cast<const Chunk*>(from);
  } else {
    KG_UNROLL
    for (int i = 0; i < Bytes; ++i)
      chunk.byte[i] = i < source_bytes ? static_cast<const unsigned char*>(from)[i] : 0;
  }
  *static_cast<Chunk*>(to) = chunk;
}

} // namespace detail

// Copies `Bytes` (4, 8 or 16) through all cache levels.
template <int Bytes>
__device__ inline void cp_async_ca(void* to, const void* from) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "n"(Bytes)
               : "memory");
#else
  detail::copy_now<Bytes>(to, from, Bytes);
#endif
}

// The same, but reads only `source_bytes` (0 to Bytes); the rest of the destination becomes 0.
template <int Bytes>
__device__ inline void cp_async_ca(SharedAddress to, const void* from, int source_bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to.value),
               "l"(__cvta_generic_to_global(from)), "n"(Bytes), "r"(source_bytes)
               : "memory");
#else
  detail::copy_now<Bytes>(__cvta_shared_to_generic(to.value), from, source_bytes);
#endif
}
template <int Bytes>
__device__ inline void cp_async_ca(void* to, const void* from, int source_bytes) {
  cp_async_ca<Bytes>(SharedAddress(to), from, source_bytes);
}

// Copies 16 bytes, bypassing the L1 cache.
__device__ inline void cp_async_cg(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from))
               : "memory");
#else
  detail::copy_now<16>(to, from, 16);
#endif
}
__device__ inline void cp_async_cg(SharedAddress to, const void* from, int source_bytes) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to.value),
               "l"(__cvta_generic_to_global(from)), "r"(source_bytes)
               : "memory");
#else
  detail::copy_now<16>(__cvta_shared_to_generic(to.value), from, source_bytes);
#endif
}
__device__ inline void cp_async_cg(void* to, const void* from, int source_bytes) {
  cp_async_cg(SharedAddress(to), from, source_bytes);
}

// Commits the thread's copies since the last commit as one group.
__device__ inline void cp_async_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most the latest `Pending` groups of the thread are in flight.
template <int Pending>
__device__ inline void cp_async_wait_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

// Waits for all copies of the thread, committed or not.
__device__ inline void cp_async_wait_all() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Arrives at an mbarrier (mbarrier.h) when all earlier copies of the thread have completed. The
// phase expects this arrival in addition; with _noinc, it is one of those already expected.
__device__ inline void cp_async_mbarrier_arrive(std::uint64_t* barrier) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
#else
  __trap();
#endif
}
__device__ inline void cp_async_mbarrier_arrive_noinc(std::uint64_t* barrier) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
#else
  __trap();
#endif
}

#else

template <int Bytes>
inline void cp_async_ca(void* to, const void* from, Location where = Location::here()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  host::async_copy(to, from, Bytes, Bytes, "cp_async_ca", where);
}
template <int Bytes>
inline void cp_async_ca(void* to, const void* from, int source_bytes,
                        Location where = Location::here()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  host::async_copy(to, from, Bytes, static_cast<unsigned>(source_bytes), "cp_async_ca", where);
}
inline void cp_async_cg(void* to, const void* from, Location where = Location::here()) {
  host::async_copy(to, from, 16, 16, "cp_async_cg", where);
}
inline void cp_async_cg(void* to, const void* from, int source_bytes,
                        Location where = Location::here()) {
  host::async_copy(to, from, 16, static_cast<unsigned>(source_bytes), "cp_async_cg", where);
}
inline void cp_async_commit(Location where = Location::here()) {
  host::async_commit("cp_async_commit", where);
}
template <int Pending>
inline void cp_async_wait_group(Location where = Location::here()) {
  host::async_wait_group(Pending, "cp_async_wait_group", where);
}
inline void cp_async_wait_all(Location where = Location::here()) {
  host::async_wait_all("cp_async_wait_all", where);
}
inline void cp_async_mbarrier_arrive(std::uint64_t* barrier, Location where = Location::here()) {
  host::async_arrive(barrier, false, "cp_async_mbarrier_arrive", where);
}
inline void cp_async_mbarrier_arrive_noinc(std::uint64_t* barrier,
                                           Location where = Location::here()) {
  host::async_arrive(barrier, true, "cp_async_mbarrier_arrive_noinc", where);
}

#endif

} // namespace kg::ptx
