// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// fence.proxy.async{.shared::cta, .global}: what the thread wrote before by ordinary stores may be
// read by bulk copies that follow (PTX ISA, "Parallel Synchronization and Communication
// Instructions: membar, fence"). Each thread that wrote executes it, behind its writes and before
// the barrier that hands them to the thread that copies. A load's bytes need none: waiting for the
// mbarrier is enough.
//
// Architecture 9.0 and above. A kernel that uses them on less traps.
#pragma once

#include "runtime/device_code.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/proxy.h"
#endif

namespace kg::ptx {

#if KG_BACKEND_CUDA

// Of accesses to shared memory.
__device__ inline void fence_proxy_async_shared() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  __trap();
#endif
}
// Of accesses to global memory.
__device__ inline void fence_proxy_async_global() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.global;" ::: "memory");
#else
  __trap();
#endif
}
// Of both.
__device__ inline void fence_proxy_async() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");
#else
  __trap();
#endif
}

#else

inline void fence_proxy_async_shared() { host::proxy_fence(host::Proxy::shared); }
inline void fence_proxy_async_global() { host::proxy_fence(host::Proxy::global); }
inline void fence_proxy_async() { host::proxy_fence(host::Proxy::both); }

#endif

} // namespace kg::ptx
