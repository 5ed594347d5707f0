// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Proxies (PTX ISA, "Memory Consistency Model: Proxies"): loads and stores use the generic proxy,
// bulk copies the asynchronous proxy. Only a proxy fence orders an access through one proxy before
// an access through the other.
#pragma once

namespace kg::host {

// The scope of a fence: accesses to shared or to global memory, or the initialization of mbarriers
// ("fence.proxy.async", "fence.mbarrier_init").
enum class Proxy { shared, global, both, mbarrier_init };

// Orders the running thread's accesses so far before later accesses by the asynchronous proxy. Only
// notifies the observer.
void proxy_fence(Proxy covered);

} // namespace kg::host
