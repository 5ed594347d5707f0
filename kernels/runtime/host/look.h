// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Called by accesses that need more than a plain load or store.
//
// A kernel may poll with some of them. Threads are not preempted, so a polling thread must let
// others run. Never inlined into instrumented code: these accesses are not the kernel's.
#pragma once

#include "runtime/error.h"
#include "runtime/host/looks.h"

#include <cstddef>

namespace kg::host {

struct Observer;
extern Observer* observer;

// Tells the observer, which must exist, of a load through the read-only cache
// (Observer::reads_only).
void note_read_only(const void* from, std::size_t bytes, Location where);

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
