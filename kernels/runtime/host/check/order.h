// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The happens-before relation between accesses (Lamport's relation, kept by vector clocks: Fidge
// 1988, Mattern 1989; FastTrack, Flanagan and Freund 2009). The rules are CUDA's: __syncthreads
// orders all threads of a block, __syncwarp the lanes of its mask, a launch everything; shuffles
// and votes order nothing. An atomic or volatile write after a __threadfence() releases everything
// before the fence to threads that read it atomically (CUDA C++ Programming Guide, "Memory Fence
// Functions"). Fences of all threads of a block before a barrier are cumulative: afterwards each
// thread releases their accesses, as on GPUs; grid reductions rely on it.
#pragma once

#include "runtime/host/check/clock.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace kg::check {

// The clocks that threads release to an object. Up to a thousand threads share their earlier clock,
// as after a barrier: the last one stored is kept and not stored again.
struct Gathered {
  Clock clock;
  ClockPointer of_thread;
  ClockPointer of_block;
  ClockPointer of_fences;
};

// An object through which threads synchronize: an atomic variable, a named barrier, an mbarrier,
// the barrier of a cluster.
struct SyncObject {
  Gathered gathered;       // from the arrivals
  ClockPointer completed;  // acquired by threads that pass
  Gathered block_gathered; // by fences of block scope: only for threads of `block`
  Who block = 0;
  // For an mbarrier at which bulk copies complete: its number in the launch (from 1 on), the number
  // of completed phases, and its initialization.
  unsigned number = 0;
  unsigned phases = 0;
  Access initialised{};
};

class BlockOrder {
 public:
  // A thread's knowledge at one of its fences.
  struct Fence {
    Time time = 0;
    Time block_floor = 0;
    Time warp_floor = 0;
    ClockPointer thread_clock;
    ClockPointer block_clock;
  };

  // Starts a new block at the moment `now`.
  void begin(Who block, Time launch_floor, Time now);

  Who block() const { return block_; }
  Time started() const { return started_; }
  Time launch_floor() const { return launch_floor_; }
  Time block_floor() const { return block_floor_; }

  // Whether `access` happens before the current action of `thread` (its rank in the block).
  bool before(const Access& access, unsigned thread) const {
    if (access.time <= launch_floor_) return true;
    if (access.time >= kInFlight)
      return access.time != kInFlight && irregular_ && knows(access, thread);
    if (((access.who ^ block_) & kBlockMask) == 0) {
      if (access.time <= block_floor_) return true;
      const unsigned other = access.who & kThreadMask;
      if (other == thread) return true;
      if (other / 32 == thread / 32 && access.time <= warp_floor_[thread / 32]) return true;
    }
    return irregular_ && knows(access, thread);
  }

  // Whether `thread` knows of the initialization of an mbarrier by its thread's fence_inits().
  bool knows_init(const Access& init, unsigned thread) const;
  // The same with the knowledge that `thread` had in that state.
  bool before(const Access& access, unsigned thread, const Fence& state) const;
  Fence state_of(unsigned thread, Time now) const;

  // Whether every thread of the block knows the access.
  bool known_to_all(const Access& access) const {
    return access.time <= launch_floor_ ||
           (((access.who ^ block_) & kBlockMask) == 0 && access.time <= block_floor_);
  }

  // Each of these ends the moment `now`: later accesses belong to the next moment.
  void block_synchronised(Time now);
  void warp_synchronised(unsigned warp, unsigned lanes, bool all_lanes, Time now);
  void fence(unsigned thread, bool block_scope, Time now);
  // fence.mbarrier_init: relaxed arrivals of the thread then release its initializations.
  void fence_inits(unsigned thread, Time now) { init_fences_[thread] = now; }
  bool has_fence(unsigned thread) const {
    return fenced_ || device_fences_.contains(thread) || block_fences_.contains(thread);
  }
  void release(unsigned thread, SyncObject& object, Time now) const;
  void release_fenced(unsigned thread, SyncObject& object) const; // covers only its last fence
  void acquire(unsigned thread, const ClockPointer& clock);
  void acquire_atomic(unsigned thread, const SyncObject& object);

 private:
  // The last join. Threads with equal clocks that pass the same barrier share the joined clock;
  // otherwise each thread of a cluster would hold a clock of all threads.
  struct Joined {
    ClockPointer own;
    ClockPointer other;
    ClockPointer both;
  };

  bool knows(const Access& access, unsigned thread) const;
  void gather_fences();
  void tell(Gathered& to, unsigned thread, const Fence& state) const;

  Who block_ = 0;
  Time launch_floor_ = 0;
  Time started_ = 0;
  Time block_floor_ = 0;
  std::array<Time, 32> warp_floor_{};
  bool irregular_ = false;                 // some thread knows more than the floors say
  ClockPointer block_clock_;               // what all threads of the block know of other blocks
  std::vector<ClockPointer> thread_clock_; // by rank; empty while there are none
  Joined joined_;
  ClockPointer fenced_; // device-scope fences of all threads before the last barrier; else null
  std::unordered_map<unsigned, Fence> device_fences_; // since the last barrier
  std::unordered_map<unsigned, Fence> block_fences_;
  std::unordered_map<unsigned, Time> init_fences_; // since the block began
};

} // namespace kg::check
