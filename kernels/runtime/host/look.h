// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Called by operations that a kernel may poll with. Threads are not preempted, so a polling thread
// must let others run. Never inlined into instrumented code: these accesses are not the kernel's.
#pragma once

#include "runtime/error.h"
#include "runtime/host/looks.h"

namespace kg::host {

// The running thread has polled often enough in vain at this location: others run first.
void poll(Location where);

template <class T>
KG_NOT_INSTRUMENTED inline void look(const volatile T* address, const T& found, Location where) {
  unsigned long long value = 0;
  __builtin_memcpy(&value, &found, sizeof(T) < sizeof value ? sizeof(T) : sizeof value);
  if (looks.in_vain(address, value)) [[unlikely]]
    poll(where);
}

// Called after an atomic operation; an operation that changes nothing counts as a look.
template <class T>
KG_NOT_INSTRUMENTED inline void updated(const volatile T* address, const T& before, bool changed,
                                        Location where) {
  if (changed)
    ++looks.changes;
  else
    look(address, before, where);
}

} // namespace kg::host
