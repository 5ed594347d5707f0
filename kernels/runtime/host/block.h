// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The executor of one block: CUDA threads as flows of control on one OS thread.
//
// Threads start in a plain loop. The first thread that has to wait keeps its stack, and the loop
// continues with the next thread on a fresh stack. So a kernel without barriers never switches
// stacks, and if only warp 0 shuffles, only warp 0 waits. The last thread to arrive at a barrier or
// collective completes it for all and continues without a switch. The scheduler picks the next
// thread by a bit scan over one mask per warp.
#pragma once

#include "runtime/error.h"
#include "runtime/host/async_copy.h"
#include "runtime/host/bulk_copy.h"
#include "runtime/host/cluster_barrier.h"
#include "runtime/host/fiber.h"
#include "runtime/host/groups.h"
#include "runtime/host/look.h"
#include "runtime/host/stack_pool.h"
#include "runtime/host/vector_types.h"
#include "runtime/schedule.h"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kg::host {

inline constexpr unsigned kWarpSize = 32;
inline constexpr unsigned kMaxThreads = 1024;
inline constexpr unsigned kMaxWarps = kMaxThreads / kWarpSize;
inline constexpr unsigned kNamedBarriers = 16;
inline constexpr unsigned kNobody = ~0u; // no thread
// At least 1024, the alignment that swizzled tiles of later architectures need. A full page, so
// that no other data shares it.
inline constexpr std::size_t kSharedAlignment = 4096;

// Completes a warp collective: reads and writes the payloads of the lanes in `lanes`; `payload` is
// indexed by lane.
using Resolve = void (*)(void* const* payload, unsigned lanes);

// __syncwarp: the collective without data exchange, and the only one that orders memory.
void resolve_nothing(void* const* payload, unsigned lanes);

// State shared by the blocks of one launch.
struct LaunchContext {
  const void* kernel;
  void (*invoke)(const void* kernel, void** arguments);
  void** arguments;
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  Schedule schedule;
  std::string (*kernel_name)(const void* kernel);
  std::span<const std::size_t> argument_sizes;
};

// File names are literals: the same source line gives the same pointer, except for a header that
// several translation units include.
inline bool same_place(const Location& a, const Location& b) {
  return a.line == b.line && (a.file == b.file || __builtin_strcmp(a.file, b.file) == 0);
}

class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Runs one block to its end. Rethrows a thread's exception, or throws Error on a deadlock, a
  // divergent barrier or a shared-memory overrun. In every case the block can run again.
  void run(const LaunchContext& launch, uint3 index, const Groups& groups);

  // --- Called by device code on behalf of the running thread

  struct Votes {
    unsigned count, any, all; // over the predicates of the block's threads
  };
  void barrier(const char* name, Location where);
  Votes vote(bool predicate, const char* name, Location where); // a barrier with a vote
  // For part of the block's threads. Returns the number of true predicates to the waiting threads.
  unsigned named_barrier(unsigned id, unsigned threads, bool wait, Location where,
                         bool predicate = false);

  // Waits until every lane of `mask` that has not exited called with the same mask and `resolve`.
  void collective(unsigned mask, void* payload, Resolve resolve, const char* name, Location where);

  // Returns the lanes of the warp that reach this call before the warp blocks.
  unsigned converge(Location where);

  // Runs every other ready thread first: the running thread waits for a condition that the executor
  // does not know.
  void yield(const char* name, Location where);

  // The same for a thread that does not wait, unless it was polling.
  void preempt(const char* name, Location where);

  // Runs some or all other threads first, chosen at random, in random order. Called where warps on
  // a GPU often overtake each other.
  void perturb(const char* name, Location where);

  // Waits until ready(what, detail). Code that changes the state under `what` must then call
  // state_changed(); changes by another block are noticed when no thread can run. A wait that no
  // thread can end is a deadlock.
  using Ready = bool (*)(const void* what, unsigned detail);
  void wait_until(Ready ready, const void* what, unsigned detail, const char* name, Location where);
  void state_changed();
  // Yields between two looks at the same state. If a block does nothing but look for very long, the
  // executor reports a deadlock.
  void poll_once(Ready ready, const void* what, unsigned detail, const char* name, Location where);

  AsyncCopies& async_copies() { return async_copies_; }
  BulkCopies& bulk_copies() { return bulk_copies_; }
  ClusterBarrier& cluster_barrier() { return cluster_barrier_; }
  // "thread 0 waits in a polling loop at k.cu:12; threads 1..31 wait in __syncwarp ..."
  std::string describe_waits() const;
  std::uint64_t random_bits(); // from the schedule's seed
  bool coin() { return random_bits() >> 63 != 0; }

  // Waits for all threads of all blocks in the group.
  void meet(BlockGroup& group, const char* name, Location where);

  // Called by kernels. Takes a view, because instrumented code would construct a string.
  [[noreturn]] void trap(std::string_view message, Location where);

  // Aborts the block for `reason` from within a call that the compiler takes for noexcept: the
  // running thread's frames are abandoned without unwinding. Only with an observer.
  [[noreturn]] void stop(std::exception_ptr reason);

  unsigned char* shared_memory() { return shared_.get(); } // aligned to kSharedAlignment
  // Maps `address` in this block's dynamic shared memory to the same offset in block `rank` of the
  // cluster.
  unsigned char* shared_memory_of(unsigned rank, const void* address, Location where);
  const LaunchContext& launch() const { return *launch_; }
  const Groups& groups() const { return groups_; }
  unsigned lane() const { return current_ % kWarpSize; }
  unsigned thread_rank() const { return current_; }
  unsigned thread_count() const { return count_; }
  unsigned alive_count() const { return alive_; } // not exited, whether started or not
  unsigned alive_lanes(unsigned warp) const { return alive_lanes_[warp]; }
  bool owns_stack(std::uintptr_t address) const { return stacks_.contains(address); }

  void* observed = nullptr; // the observer's data for this block

 private:
  enum class Wait : unsigned char {
    none,
    barrier,
    named_barrier,
    collective,
    converge,
    yield,
    poll
  };

  // One cache line, because every wait touches it.
  struct alignas(64) Thread {
    Context context;
    const char* name = "";
    Location where;
    uint3 index;
    unsigned detail = 0; // mask of a collective; id of a named barrier, then its count
    Wait wait = Wait::none;
  };

  struct Collective {
    unsigned mask;
    unsigned arrived;
    Resolve resolve;
  };

  struct Warp {
    unsigned yielded = 0;
    unsigned converging = 0;
    unsigned groups = 0; // open collectives in use
    void* payload[kWarpSize];
    Collective collectives[kWarpSize];
    unsigned converged[kWarpSize]; // result of converge(), by lane
  };

  struct NamedBarrier {
    unsigned threads = 0; // expected by the open phase
    unsigned arrived = 0;
    unsigned trues = 0;            // number of true predicates among the arrivals
    std::vector<unsigned> waiting; // thread ranks
  };

  struct Poll {
    unsigned rank; // of the thread
    Ready ready;
    const void* what;
    unsigned detail;
  };

  static void fresh_stack_entry();

  void prepare(const LaunchContext& launch, uint3 index, const Groups& groups);
  void finish_copies();
  void order_threads();
  void loop(StackPool::Stack* here);
  void run_thread(unsigned id);
  void run_observed_thread();
  void thread_exited(unsigned id);
  static void suspend(Wait wait, unsigned detail, const char* name, Location where);
  Thread* pick();
  unsigned choose();
  const Context* continue_elsewhere();
  void make_ready(unsigned warp, unsigned lanes);
  bool unblock();
  bool wake_polls();
  bool only_looks(std::uint64_t changes);
  bool stand_aside();
  bool release_converging(unsigned warp);
  bool complete_after_exit(unsigned warp);
  void release_barrier();
  void abort(std::exception_ptr reason);
  [[noreturn]] static void unwind();
  void judge_places(const char* name, Location where);
  [[noreturn]] void diverge(const char* name, Location where, std::string_view rule) const;
  [[noreturn]] void shared_overrun(std::size_t byte) const;
  std::string deadlock_report() const;
  const void* awaited_mbarrier(unsigned id) const;
  std::string describe_thread(unsigned id) const;
  std::string where_am_i() const;

  const LaunchContext* launch_ = nullptr;
  Groups groups_;
  uint3 index_{};
  unsigned current_ = 0;
  unsigned count_ = 0;
  unsigned warps_ = 0;
  unsigned alive_ = 0;
  unsigned started_ = 0;
  unsigned ready_warps_ = 0; // warps with a ready lane
  unsigned yielded_ = 0;     // threads that yielded
  bool aborting_ = false;
  bool home_parked_ = false;
  std::exception_ptr failure_;

  unsigned barrier_arrived_ = 0;
  unsigned barrier_true_ = 0;
  Votes barrier_votes_{};
  Location barrier_where_;             // of the first arrival
  bool barrier_places_differ_ = false; // whether arrivals differ in location
  NamedBarrier named_[kNamedBarriers];
  std::vector<Poll> polls_;
  std::vector<Poll> looks_;  // the last poll_once() of each thread, by rank; or empty
  unsigned polling_ = 0;     // threads that yielded in poll_once()
  unsigned overtaken_ = 0;   // threads that were preempted
  unsigned idle_rounds_ = 0; // rounds with poll_once() only
  // Rounds in which all ready threads polled and none changed memory; number of polls in them.
  unsigned vain_rounds_ = 0;
  std::uint64_t vain_polls_ = 0;
  std::uint64_t changes_seen_ = 0;
  AsyncCopies async_copies_{*this};
  BulkCopies bulk_copies_{*this};
  ClusterBarrier cluster_barrier_{*this};

  Context home_;  // the OS thread's own stack, parked in loop()
  Context fresh_; // a stack that nothing has run on yet
  StackPool stacks_;
  StackPool::Stack* fresh_stack_ = nullptr; // handed to fresh_stack_entry()
  std::uint64_t random_ = 1;
  dim3 index_shape_{0, 0, 0};
  ThreadOrder thread_order_ = ThreadOrder::forward;
  ThreadOrder order_made_for_ = ThreadOrder::forward;
  unsigned order_count_ = 0;

  // Per warp, the lanes that have not exited (including those not yet started); and the lanes that
  // are suspended but able to continue.
  unsigned alive_lanes_[kMaxWarps];
  unsigned ready_[kMaxWarps];

  Thread threads_[kMaxThreads + 1]; // one more as a sentinel for pick()
  Warp warp_[kMaxWarps];
  unsigned order_[kMaxThreads]; // start order
  void** escape_[kMaxThreads];  // the frame to which stop() returns, per thread

  // Dynamic shared memory followed by its guard, in pages of their own.
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  std::unique_ptr<unsigned char, Free> shared_;
};

// The block that this OS thread runs; null outside kernels.
KG_PROGRAM_TLS extern constinit thread_local Block* current_block;

// __threadfence and __threadfence_block.
void fence(bool block_scope);

[[noreturn]] void no_running_block(const char* what, Location where);

// Returns the block; throws Error naming `what` if device code is called outside a kernel.
inline Block& running_block(const char* what, Location where) {
  if (!current_block) [[unlikely]]
    no_running_block(what, where);
  return *current_block;
}

} // namespace kg::host

// CUDA's built-in variables, updated at every switch.
KG_PROGRAM_TLS extern constinit thread_local uint3 threadIdx;
KG_PROGRAM_TLS extern constinit thread_local uint3 blockIdx;
KG_PROGRAM_TLS extern constinit thread_local dim3 blockDim;
KG_PROGRAM_TLS extern constinit thread_local dim3 gridDim;
inline constexpr int warpSize = 32;
