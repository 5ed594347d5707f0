// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the executor tells whoever watches it: the checkers (check/) or the counters (count/), when
// a program is linked with them. Nobody watches otherwise, and each call site costs one test of a
// pointer.
#pragma once

#include "runtime/error.h"

#include <cstddef>
#include <exception>

namespace kg::host {

class Block;
struct LaunchContext;

// Called by the OS thread that runs the block; while somebody watches, only one does at a time.
struct Observer {
  virtual ~Observer() = default;

  // --- Device memory: `block` is [guard_bytes][bytes][guard], `block_bytes` long.
  virtual void allocated(void* /*block*/, std::size_t /*block_bytes*/, std::size_t /*bytes*/) {}
  // True if the observer keeps the memory, to see whether it is used once more, and frees it later.
  virtual bool freed(void* /*block*/) { return false; }
  virtual void written(void* /*to*/, std::size_t /*bytes*/) {}  // by the host
  virtual void poisoned(void* /*to*/, std::size_t /*bytes*/) {} // not to be read before written
  virtual void copied(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) {}

  // --- Launches and blocks
  virtual void launch_began(const LaunchContext&) {}
  // `failure` is null when all blocks have run to their end. Throws what the launch is to throw, if
  // that is something else.
  virtual void launch_ended(const LaunchContext&, const std::exception_ptr& /*failure*/) {}
  virtual void block_began(Block&) {}
  virtual void block_ended(Block&) {}
  virtual void block_destroyed(Block&) {} // the executor of one, with its shared memory

  // --- What orders the accesses of the running thread's block
  virtual void block_synchronised(Block&, Location) {} // all its threads, in a barrier there
  virtual void warp_synchronised(Block&, unsigned /*warp*/, unsigned /*lanes*/) {}
  // Lanes of a warp met in the collective `name`, __syncwarp included.
  virtual void warp_met(Block&, unsigned /*warp*/, unsigned /*lanes*/, const char* /*name*/) {}
  virtual void fence(Block&, bool /*block_scope*/) {}
  // The running thread releases to, or acquires from, an object that others wait for. A phase of it
  // is complete when nobody else can arrive in it any more.
  virtual void barrier_arrived(const void* /*object*/) {}
  virtual void barrier_arrived_relaxed(const void* /*object*/) {} // what its last fence covers
  virtual void barrier_completed(const void* /*object*/) {}
  virtual void barrier_passed(const void* /*object*/) {}

  // --- Asynchronous copies. The running thread issues one; from the wait on its destination
  // belongs to that thread again, or (`handed_over`) to whoever passes the mbarrier on which it
  // arrives.
  virtual void async_copy_issued(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/,
                                 std::size_t /*source_bytes*/, Location) {}
  virtual void async_copy_arrived(void* /*to*/, std::size_t /*bytes*/, bool /*handed_over*/) {}

  // --- What the host does and may touch (of foreign sources)
  virtual void copied_to_host(const void* /*from*/, std::size_t /*bytes*/) {}
  virtual void shared_with_host(void* /*memory*/, std::size_t /*bytes*/) {}
  // All work that follows is of this stream.
  virtual void work_begins(const void* /*stream*/) {}
  virtual void async_host_copy(const void* /*host*/, std::size_t /*bytes*/, bool /*writes_host*/) {}
  // The host waits for a stream; null: for all.
  virtual void host_waited(const void* /*stream*/, const void* /*default_stream*/) {}
  virtual void stream_waited() {}                // for another stream's event
  virtual void host_function(bool /*begins*/) {} // a stream calls a function of the host's
};

extern Observer* observer; // null when nothing watches

} // namespace kg::host
