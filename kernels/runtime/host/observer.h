// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the executor tells whoever watches it: the checkers (check/) or the counters (count/), when
// a program is linked with them. Nobody watches otherwise, and each call site costs one test of a
// pointer.
#pragma once

#include "runtime/error.h"
#include "runtime/host/proxy.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

namespace kg::host {

class Block;
struct LaunchContext;

// A stream, by what CUDA's rules of order tell apart.
enum class StreamKind { legacy, blocking, non_blocking };
struct WorkStream {
  std::uint64_t number; // 0: the legacy default stream; from 1 on: as they were created
  StreamKind kind;
};
inline constexpr std::uint64_t kHiddenStreams = 1ull << 32; // numbers of those never created
// A piece of work in the order of a stream.
struct Work {
  const WorkStream& stream;
  const char* function;    // that asks for it, where it is no kernel: "cudaMemcpyAsync"; static
  std::uint32_t call_site; // of that function, by Observer::call_site()
  bool in_graph = false;
};
enum class Touch { read, write, allocate, free };
// All that comes before a point of a stream. Null: nothing, as of an event never recorded.
using Moment = std::shared_ptr<const void>;

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
  virtual void block_stands_aside(Block&) {} // others run from now on, and this one later on
  virtual void block_destroyed(Block&) {}    // the executor of one, with its shared memory

  // Whether what CUDA C++ forbids is a fault where PTX defines it.
  virtual bool holds_to_cuda() const { return false; }

  // --- What orders the accesses of the running thread's block
  virtual void block_synchronised(Block&, Location) {} // all its threads, in a barrier there
  virtual void warp_synchronised(Block&, unsigned /*warp*/, unsigned /*lanes*/, Location) {}
  // Lanes of a warp met in the collective `name`, __syncwarp included.
  virtual void warp_met(Block&, unsigned /*warp*/, unsigned /*lanes*/, const char* /*name*/) {}
  virtual void fence(Block&, bool /*block_scope*/) {}
  // The running thread releases to, or acquires from, an object that others wait for. A phase of it
  // is complete when nobody else can arrive in it any more.
  virtual void barrier_arrived(const void* /*object*/) {}
  virtual void barrier_arrived_relaxed(const void* /*object*/) {} // what its last fence covers
  virtual void barrier_completed(const void* /*object*/) {}
  virtual void barrier_passed(const void* /*object*/) {}
  virtual void mbarrier_initialised(const void* /*barrier*/, Location) {}
  virtual void proxy_fenced(Block&, Proxy) {} // by the running thread

  // --- Asynchronous copies. The running thread issues one; from the wait on its destination
  // belongs to that thread again, or (`handed_over`) to whoever passes the mbarrier on which it
  // arrives.
  virtual void async_copy_issued(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/,
                                 std::size_t /*source_bytes*/, Location) {}
  virtual void async_copy_arrived(void* /*to*/, std::size_t /*bytes*/, bool /*handed_over*/) {}

  // --- Bulk copies, by the asynchronous proxy. A load is issued by the running thread and lands at
  // an mbarrier: its destination belongs to whoever passes the phase. A store reads and writes at
  // any time until the thread has waited for it.
  // Each is told of every contiguous range of shared memory by itself.
  virtual void bulk_load_issued(void* /*to*/, std::size_t /*bytes*/, const void* /*barrier*/,
                                Location) {}
  virtual void bulk_load_landed(void* /*to*/, const void* /*barrier*/) {}
  virtual void bulk_store_issued(const void* /*from*/, std::size_t /*bytes*/, Location) {}
  virtual void bulk_store_read(const void* /*from*/, std::size_t /*bytes*/) {}
  virtual void bulk_store_written(void* /*to*/, std::size_t /*bytes*/) {}

  // --- What the host does and may touch (of foreign sources)
  virtual void copied_to_host(const void* /*from*/, std::size_t /*bytes*/) {}
  virtual void shared_with_host(void* /*memory*/, std::size_t /*bytes*/) {}
  // Frees what cudaMallocAsync gave, without waiting for anything.
  virtual void host_frees(const void* /*memory*/, std::size_t /*bytes*/) {}

  // --- Streams (of foreign sources)
  // Whence the program calls: `known` if that has a line.
  virtual std::uint32_t call_site(Location /*known*/ = {}) { return 0; }
  virtual void stream_created() {}
  // What this OS thread does until work_ends, in a stream. Work within work is part of it.
  virtual void work_begins(const Work&) {}
  virtual void work_ends() {}
  virtual void work_tells_host() {} // that it has run
  virtual void work_touches(const void* /*memory*/, std::size_t /*bytes*/, Touch) {}
  virtual Moment recorded(const WorkStream&) { return nullptr; }
  virtual void stream_waits(const WorkStream&, const Moment&) {}
  virtual void host_waits(const WorkStream&) {}
  virtual void host_waits(const Moment&) {}
  virtual void host_waits_for_all() {}

  // --- Global memory of bulk copies, each contiguous range by itself: what a load reads, and what
  // a store writes. Both come as the copy is issued.
  virtual void bulk_load_reads(const void* /*from*/, std::size_t /*bytes*/, Location) {}
  virtual void bulk_store_writes(void* /*to*/, std::size_t /*bytes*/, Location) {}
};

extern Observer* observer; // null when nothing watches

} // namespace kg::host
