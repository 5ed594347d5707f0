// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel may poll with calls these: threads are not preempted, so one that polls has to let
// others run. Instrumented code must not inline them, whose own accesses are no kernel's.
#pragma once

#include "runtime/error.h"
#include "runtime/host/looks.h"

namespace kg::host {

// The running thread has looked often enough in vain, there: others go first.
void poll(Location where);

template <class T>
KG_NOT_INSTRUMENTED inline void look(const volatile T* address, const T& found, Location where) {
  unsigned long long value = 0;
  __builtin_memcpy(&value, &found, sizeof(T) < sizeof value ? sizeof(T) : sizeof value);
  if (looks.in_vain(address, value)) [[unlikely]]
    poll(where);
}

// After an atomic operation: one that changes nothing is a look.
template <class T>
KG_NOT_INSTRUMENTED inline void updated(const volatile T* address, const T& before, bool changed,
                                        Location where) {
  if (changed)
    ++looks.changes;
  else
    look(address, before, where);
}

} // namespace kg::host
