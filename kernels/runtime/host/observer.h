// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the executor tells someone who watches a kernel's memory: the accesses and orderings that do
// not go through the kernel's own loads, stores and atomics.
#pragma once

#include "runtime/error.h"

#include <cstddef>

namespace kg::host {

struct Observer {
  virtual ~Observer() = default;

  // From here on the bytes at `to` may change at any time, and those at `from` may be read.
  virtual void async_copy_issued(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/,
                                 Location /*where*/) {}
  // The bytes at `to` have arrived, and the thread that issued the copy may use them.
  virtual void async_copy_waited(void* /*to*/, std::size_t /*bytes*/) {}
  // The running thread releases what it did before; the one that passes later acquires it.
  virtual void barrier_arrived(const void* /*barrier*/) {}
  virtual void barrier_passed(const void* /*barrier*/) {}
};

extern Observer* observer; // null when nothing watches

} // namespace kg::host
