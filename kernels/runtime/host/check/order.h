// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which accesses happen before which (Lamport's relation, kept by vector clocks: Fidge 1988,
// Mattern 1989; FastTrack, Flanagan and Freund 2009). The rules are CUDA's: __syncthreads orders
// all threads of a block, __syncwarp the lanes of its mask, a launch everything; shuffles and votes
// order nothing; an atomic or volatile write that follows a __threadfence() hands over what came
// before the fence to whoever reads it atomically (CUDA C++ Programming Guide, "Memory Fence
// Functions"). What all threads of a block had fenced when they met in a barrier, each of them
// hands over from then on: so it is on GPUs, and reductions of a grid rely on it.
#pragma once

#include "runtime/host/check/clock.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace kg::check {

// What threads tell an object. A thousand of them share what they knew before, as after a barrier:
// the last told stays, and is not told again.
struct Gathered {
  Clock clock;
  ClockPointer of_thread;
  ClockPointer of_block;
  ClockPointer of_fences;
};

// An object through which threads hand over: an atomic variable, a named barrier, an mbarrier, the
// barrier of a cluster.
struct SyncObject {
  Gathered gathered;       // from those who arrived
  ClockPointer completed;  // what those who pass get
  Gathered block_gathered; // by fences of block scope: for threads of `block` only
  Who block = 0;
  // Of an mbarrier that bulk copies complete at: its number in the launch (from 1 on), how many of
  // its phases have ended, and who initialised it.
  unsigned number = 0;
  unsigned phases = 0;
  Access initialised{};
};

class BlockOrder {
 public:
  // What a thread knew at a fence of its own.
  struct Fence {
    Time time = 0;
    Time block_floor = 0;
    Time warp_floor = 0;
    ClockPointer thread_clock;
    ClockPointer block_clock;
  };

  // A new block; `now` is the moment it starts.
  void begin(Who block, Time launch_floor, Time now);

  Who block() const { return block_; }
  Time started() const { return started_; }
  Time launch_floor() const { return launch_floor_; }
  Time block_floor() const { return block_floor_; }

  // Does `access` happen before what `thread` (its rank in the block) does now?
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

  // The same of what `thread` knew when it was in that state.
  bool before(const Access& access, unsigned thread, const Fence& state) const;
  Fence state_of(unsigned thread, Time now) const;

  // Does every thread of the block know of it?
  bool known_to_all(const Access& access) const {
    return access.time <= launch_floor_ ||
           (((access.who ^ block_) & kBlockMask) == 0 && access.time <= block_floor_);
  }

  // Each ends the moment `now`: accesses made from then on are of the next one.
  void block_synchronised(Time now);
  void warp_synchronised(unsigned warp, unsigned lanes, bool all_lanes, Time now);
  void fence(unsigned thread, bool block_scope, Time now);
  bool has_fence(unsigned thread) const {
    return fenced_ || device_fences_.contains(thread) || block_fences_.contains(thread);
  }
  void release(unsigned thread, SyncObject& object, Time now) const;
  void release_fenced(unsigned thread, SyncObject& object) const; // what its last fence covers
  void acquire(unsigned thread, const ClockPointer& clock);
  void acquire_atomic(unsigned thread, const SyncObject& object);

 private:
  // The last join: threads that knew the same and pass the same barrier share what they know then,
  // or each of a cluster's threads would have a clock of all of them to itself.
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
  bool irregular_ = false;                 // somebody knows more than the floors say
  ClockPointer block_clock_;               // what every thread of the block knows of other blocks
  std::vector<ClockPointer> thread_clock_; // by rank; empty while nobody has one
  Joined joined_;
  ClockPointer fenced_; // of device scope, by all threads before the last barrier; null if none was
  std::unordered_map<unsigned, Fence> device_fences_; // since then
  std::unordered_map<unsigned, Fence> block_fences_;
};

} // namespace kg::check
