// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Proxies (PTX ISA, "Memory Consistency Model: Proxies"): loads and stores go through the generic
// proxy, bulk copies through the asynchronous one. Nothing orders an access of the one before an
// access of the other but a proxy fence.
#pragma once

namespace kg::host {

// What a fence covers: accesses to shared or to global memory, or the initialisation of mbarriers
// ("fence.proxy.async", "fence.mbarrier_init").
enum class Proxy { shared, global, both, mbarrier_init };

// The running thread's accesses so far come before those of the asynchronous proxy that follow.
// Nothing to do but to tell the observer.
void proxy_fence(Proxy covered);

} // namespace kg::host
