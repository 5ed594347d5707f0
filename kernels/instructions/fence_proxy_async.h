// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// fence.proxy.async{.shared::cta, .global}: makes the thread's earlier ordinary stores visible to
// later bulk copies (PTX ISA, "Parallel Synchronization and Communication Instructions: membar,
// fence"). Each thread that wrote executes it, after its writes and before the barrier that hands
// them to the copying thread. Loaded bytes need no fence: waiting for the mbarrier is enough.
//
// Architecture 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "runtime/device_code.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/proxy.h"
#endif

namespace kg::ptx {

#if KG_BACKEND_CUDA

// For accesses to shared memory.
__device__ inline void fence_proxy_async_shared() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  __trap();
#endif
}
// For accesses to global memory.
__device__ inline void fence_proxy_async_global() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.global;" ::: "memory");
#else
  __trap();
#endif
}
// For both.
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
