// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The executor of one block: CUDA threads as flows of control on one OS thread.
//
// Threads start as a plain loop. The first one that has to wait keeps the stack it is on, and the
// loop goes on with the next thread on a fresh stack; so a kernel without barriers never switches
// stacks, and one in which only warp 0 shuffles waits only there. The last thread to arrive at a
// barrier or collective completes it for all and continues without a switch. Which thread runs next
// is a bit scan over one mask per warp.
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
// At least 1024, what swizzled tiles of later architectures ask for; a page, so that nothing else
// is in the same.
inline constexpr std::size_t kSharedAlignment = 4096;

// Completes a warp collective: reads and writes what the lanes in `lanes` brought; `payload` is
// indexed by lane.
using Resolve = void (*)(void* const* payload, unsigned lanes);

// The collective that exchanges nothing is __syncwarp: the only one that orders memory.
void resolve_nothing(void* const* payload, unsigned lanes);

// What the blocks of one launch share.
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

// File names are literals: the same source line gives the same pointer, but one header in two
// translation units need not.
inline bool same_place(const Location& a, const Location& b) {
  return a.line == b.line && (a.file == b.file || __builtin_strcmp(a.file, b.file) == 0);
}

class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Runs one block to its end. Throws what a thread threw, or Error on a deadlock, a divergent
  // barrier or a shared-memory overrun; the block is ready for another run either way.
  void run(const LaunchContext& launch, uint3 index, const Groups& groups);

  // --- What device code calls, on behalf of the running thread

  struct Votes {
    unsigned count, any, all; // of the predicates that the block's threads brought
  };
  void barrier(const char* name, Location where);
  Votes vote(bool predicate, const char* name, Location where); // a barrier that counts
  // Of some of the block's threads. How many of them brought a true predicate, to those who wait.
  unsigned named_barrier(unsigned id, unsigned threads, bool wait, Location where,
                         bool predicate = false);

  // Waits until every lane of `mask` that has not exited called with the same mask and `resolve`.
  void collective(unsigned mask, void* payload, Resolve resolve, const char* name, Location where);

  // The lanes of the warp that reach this call before the warp blocks.
  unsigned converge(Location where);

  // Lets every other thread that can run go first: the thread waits for something that the executor
  // does not know.
  void yield(const char* name, Location where);

  // The same for a thread that waits for nothing, unless it was polling.
  void preempt(const char* name, Location where);

  // Lets some or all others go first, by chance, in random order: called where a GPU's warps often
  // overtake each other.
  void perturb(const char* name, Location where);

  // Waits until ready(what, detail). Whoever changes what it looks at then calls state_changed();
  // what another block changes is found when nothing else can run. A wait that nobody can end is a
  // deadlock.
  using Ready = bool (*)(const void* what, unsigned detail);
  void wait_until(Ready ready, const void* what, unsigned detail, const char* name, Location where);
  void state_changed();
  // A yield between two looks at the same. When a block does nothing but look, for very long, it is
  // a deadlock.
  void poll_once(Ready ready, const void* what, unsigned detail, const char* name, Location where);

  AsyncCopies& async_copies() { return async_copies_; }
  BulkCopies& bulk_copies() { return bulk_copies_; }
  ClusterBarrier& cluster_barrier() { return cluster_barrier_; }
  // "thread 0 waits in a polling loop at k.cu:12; threads 1..31 wait in __syncwarp ..."
  std::string describe_waits() const;
  std::uint64_t random_bits(); // from the schedule's seed
  bool coin() { return random_bits() >> 63 != 0; }

  // Waits for all threads of all blocks of one of the groups.
  void meet(BlockGroup& group, const char* name, Location where);

  // Called by kernels: a string would be made by instrumented code.
  [[noreturn]] void trap(std::string_view message, Location where);

  // Gives the block up for `reason` from within a call that the compiler takes for one that cannot
  // throw: the running thread's frames are left without being unwound. Only while somebody watches.
  [[noreturn]] void stop(std::exception_ptr reason);

  unsigned char* shared_memory() { return shared_.get(); } // aligned to kSharedAlignment
  // What lies in block `rank` of the cluster where `address` lies in this block's dynamic shared
  // memory.
  unsigned char* shared_memory_of(unsigned rank, const void* address, Location where);
  const LaunchContext& launch() const { return *launch_; }
  const Groups& groups() const { return groups_; }
  unsigned lane() const { return current_ % kWarpSize; }
  unsigned thread_rank() const { return current_; }
  unsigned thread_count() const { return count_; }
  unsigned alive_count() const { return alive_; } // of those, started or not
  unsigned alive_lanes(unsigned warp) const { return alive_lanes_[warp]; }
  bool owns_stack(std::uintptr_t address) const { return stacks_.contains(address); }

  void* observed = nullptr; // what the observer keeps of this block

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

  // One cache line: every wait touches it.
  struct alignas(64) Thread {
    Context context;
    const char* name = "";
    Location where;
    uint3 index;
    unsigned detail = 0; // mask of a collective, id of a named barrier and then what it counted
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
    unsigned threads = 0; // that the open phase is for
    unsigned arrived = 0;
    unsigned trues = 0;            // among the predicates that they brought
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
  Location barrier_where_;             // of the first that arrived
  bool barrier_places_differ_ = false; // of those who arrived
  NamedBarrier named_[kNamedBarriers];
  std::vector<Poll> polls_;
  std::vector<Poll> looks_;  // the last poll_once() of each thread, by rank; or empty
  unsigned polling_ = 0;     // threads that yielded in poll_once()
  unsigned overtaken_ = 0;   // threads that were preempted
  unsigned idle_rounds_ = 0; // of nothing but that
  // Rounds in which all threads that could go on polled and none changed memory; how many did.
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

  // Lanes by warp: they exist and have not exited (not yet started ones included); suspended and
  // able to continue.
  unsigned alive_lanes_[kMaxWarps];
  unsigned ready_[kMaxWarps];

  Thread threads_[kMaxThreads + 1]; // one more, for pick() to look at
  Warp warp_[kMaxWarps];
  unsigned order_[kMaxThreads]; // start order
  void** escape_[kMaxThreads];  // where stop() leaves a thread to

  // Dynamic shared memory and the guard behind it, in pages of their own.
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

// The block, or an Error naming `what` when device code is called outside a kernel.
inline Block& running_block(const char* what, Location where) {
  if (!current_block) [[unlikely]]
    no_running_block(what, where);
  return *current_block;
}

} // namespace kg::host

// CUDA's built-in variables, kept up to date at every switch.
KG_PROGRAM_TLS extern constinit thread_local uint3 threadIdx;
KG_PROGRAM_TLS extern constinit thread_local uint3 blockIdx;
KG_PROGRAM_TLS extern constinit thread_local dim3 blockDim;
KG_PROGRAM_TLS extern constinit thread_local dim3 gridDim;
inline constexpr int warpSize = 32;
