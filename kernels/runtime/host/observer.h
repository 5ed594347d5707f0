// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The events that the executor reports to an observer: the checkers (check/) or the counters
// (count/), in programs linked with them. Without an observer, each call site costs one pointer
// test.
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

// A stream, with the properties that CUDA's ordering rules distinguish.
enum class StreamKind { legacy, blocking, non_blocking };
struct WorkStream {
  std::uint64_t number; // 0: the legacy default stream; from 1 on, in order of creation
  StreamKind kind;
};
inline constexpr std::uint64_t kHiddenStreams = 1ull << 32; // numbers of streams never created
// A piece of work in stream order.
struct Work {
  const WorkStream& stream;
  const char* function;    // that requests it, unless it is a kernel: "cudaMemcpyAsync"; static
  std::uint32_t call_site; // of the call to that function, by Observer::call_site()
  bool in_graph = false;
};
enum class Touch { read, write, allocate, free };
// Everything before a point of a stream. Null: nothing, as for an event never recorded.
using Moment = std::shared_ptr<const void>;

// Called by the OS thread that runs the block; with an observer, only one of them runs at a time.
struct Observer {
  virtual ~Observer() = default;

  // --- Device memory: `block` is [guard_bytes][bytes][guard], `block_bytes` long
  virtual void allocated(void* /*block*/, std::size_t /*block_bytes*/, std::size_t /*bytes*/) {}
  // True if the observer keeps the memory, to detect later uses, and frees it itself.
  virtual bool freed(void* /*block*/) { return false; }
  virtual void written(void* /*to*/, std::size_t /*bytes*/) {}  // by the host
  virtual void poisoned(void* /*to*/, std::size_t /*bytes*/) {} // not to be read before written
  virtual void copied(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) {}

  // --- Launches and blocks
  virtual void launch_began(const LaunchContext&) {}
  // `failure` is null if all blocks have run to their end. May throw a different exception for the
  // launch.
  virtual void launch_ended(const LaunchContext&, const std::exception_ptr& /*failure*/) {}
  virtual void block_began(Block&) {}
  virtual void block_ended(Block&) {}
  virtual void block_stands_aside(Block&) {} // others run now, this block later
  virtual void block_destroyed(Block&) {}    // the block's executor and its shared memory

  // Whether to report as faults what CUDA C++ forbids but PTX defines.
  virtual bool holds_to_cuda() const { return false; }

  // --- Synchronization of the running thread's block
  virtual void block_synchronised(Block&, Location) {} // all its threads, in a barrier there
  virtual void warp_synchronised(Block&, unsigned /*warp*/, unsigned /*lanes*/, Location) {}
  // Lanes of a warp met in the collective `name`, __syncwarp included.
  virtual void warp_met(Block&, unsigned /*warp*/, unsigned /*lanes*/, const char* /*name*/) {}
  virtual void fence(Block&, bool /*block_scope*/) {}
  // The running thread releases to, or acquires from, an object that other threads wait for. A
  // phase of the object is complete when no thread can arrive in it any more.
  virtual void barrier_arrived(const void* /*object*/) {}
  virtual void barrier_arrived_relaxed(const void* /*object*/) {} // covers only its last fence
  virtual void barrier_completed(const void* /*object*/) {}
  virtual void barrier_passed(const void* /*object*/) {}
  virtual void mbarrier_initialised(const void* /*barrier*/, Location) {}
  virtual void proxy_fenced(Block&, Proxy) {} // by the running thread

  // --- Values that CUDA leaves undefined
  // The running thread is about to load by a path that ignores this launch's writes (__ldg).
  virtual void reads_only(const void* /*from*/, std::size_t /*bytes*/, Location) {}
  // The shuffle `name` is about to return the value of a lane that takes no part: all ones, unless
  // the observer replaces it.
  virtual void shuffles_from_absent(void* /*value*/, std::size_t /*bytes*/, unsigned /*lane*/,
                                    const char* /*name*/, Location) {}

  // --- Asynchronous copies, issued by the running thread. After the wait, the destination belongs
  // to that thread again or, if `handed_over`, to any thread that passes the mbarrier on which the
  // copy arrives.
  virtual void async_copy_issued(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/,
                                 std::size_t /*source_bytes*/, Location) {}
  virtual void async_copy_arrived(void* /*to*/, std::size_t /*bytes*/, bool /*handed_over*/) {}

  // --- Bulk copies, by the asynchronous proxy. The running thread issues a load, which lands at an
  // mbarrier: its destination belongs to any thread that passes the phase. A store reads and writes
  // at any time until the thread has waited for it. Each contiguous range of shared memory is
  // reported separately.
  virtual void bulk_load_issued(void* /*to*/, std::size_t /*bytes*/, const void* /*barrier*/,
                                Location) {}
  virtual void bulk_load_landed(void* /*to*/, const void* /*barrier*/) {}
  virtual void bulk_store_issued(const void* /*from*/, std::size_t /*bytes*/, Location) {}
  virtual void bulk_store_read(const void* /*from*/, std::size_t /*bytes*/) {}
  virtual void bulk_store_written(void* /*to*/, std::size_t /*bytes*/) {}

  // --- Accesses by the host (for third-party sources)
  virtual void copied_to_host(const void* /*from*/, std::size_t /*bytes*/) {}
  virtual void shared_with_host(void* /*memory*/, std::size_t /*bytes*/) {}
  // The host passes an address to `function` that is not one to free.
  virtual void freed_wrongly(const void* /*memory*/, const char* /*function*/) {}
  // The host frees memory from cudaMallocAsync without waiting for its work.
  virtual void host_frees(const void* /*memory*/, std::size_t /*bytes*/) {}

  // --- Streams (for third-party sources)
  // The program's call site: `known` if it has a line.
  virtual std::uint32_t call_site(Location /*known*/ = {}) { return 0; }
  virtual void stream_created() {}
  // Until work_ends, this OS thread does work of a stream. Nested work is part of the outer work.
  virtual void work_begins(const Work&) {}
  virtual void work_ends() {}
  virtual void work_tells_host() {} // that the work has run
  virtual void work_touches(const void* /*memory*/, std::size_t /*bytes*/, Touch) {}
  virtual Moment recorded(const WorkStream&) { return nullptr; }
  virtual void stream_waits(const WorkStream&, const Moment&) {}
  virtual void host_waits(const WorkStream&) {}
  virtual void host_waits(const Moment&) {}
  virtual void host_waits_for_all() {}

  // --- Global memory of bulk copies, reported per contiguous range when the copy is issued: what a
  // load reads, and what a store writes.
  virtual void bulk_load_reads(const void* /*from*/, std::size_t /*bytes*/, Location) {}
  virtual void bulk_store_writes(void* /*to*/, std::size_t /*bytes*/, Location) {}
};

extern Observer* observer; // null without an observer

} // namespace kg::host
