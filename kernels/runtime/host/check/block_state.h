// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the checkers keep of a block while it runs.
#pragma once

#include "runtime/host/check/access.h"
#include "runtime/host/check/memory_map.h"
#include "runtime/host/check/order.h"
#include "runtime/host/check/shadow.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace kg::check {

using SyncObjects = std::unordered_map<std::uintptr_t, SyncObject>; // by address

// A word of which further accesses at a moment add nothing:
// - reads by anyone, once threads of two warps have read it: any write that conflicts with a
// further
//   read conflicts with one of theirs
// - reads by one warp, once two of its threads have read it
// - reads and writes by one thread that has written and read it: any access that conflicts with a
//   further one conflicts with that write
struct Memo {
  std::uintptr_t address = 0;
  Time time = 0;
  std::uint16_t bytes = 0;
  std::uint16_t whose = 0; // kAnyones, kWarps | warp, or a thread

  static constexpr std::uint16_t kAnyones = 0x8000, kWarps = 0x4000;
  bool is_of(std::uintptr_t access, std::size_t access_bytes, Time now) const {
    return address == access && bytes == access_bytes && time == now;
  }
  bool covers_read_by(unsigned thread) const {
    return whose == kAnyones || whose == (kWarps | thread / 32) || whose == thread;
  }
};

// The checkers' state of a block while it runs.
struct BlockState {
  BlockOrder order;
  const void* built_in_variables = nullptr; // identify its OS thread
  std::vector<Span> thread_local_storage;   // of that thread
  std::uintptr_t dynamic_shared = 0;
  std::size_t dynamic_shared_bytes = 0;
  SyncObjects objects; // in its shared memory, and the executor's own, such as named barriers
  unsigned until_preemption = 0; // number of accesses; 0: never
  std::uint64_t random = 0;
  bool together = false; // other blocks run at the same time
  bool in_group = false; // it belongs to a cluster or a cooperative grid
  bool running = false;
  bool uses_mbarrier = false;
  Location barrier{};                       // the last barrier of all its threads
  std::array<Location, 32> warp_barriers{}; // last barrier of each warp, block barriers included

  std::array<Memo, 4096> memos;
  Memo& memo_of(std::uintptr_t address) {
    // The sum distributes words, pairs and quads evenly.
    return memos[(address / 4 + address / 16) % memos.size()];
  }

  // The times of writes to `page` that need no further check: in global memory all before this
  // launch, in shared memory all of this block before its last barrier. The written data itself may
  // still be uninitialized.
  struct Moments {
    Time from, to;
  };
  Moments settled(const Page& page, Kind kind) const {
    const bool global = page.space == Space::global;
    const Time to = global ? order.launch_floor() : order.block_floor();
    if (is_write(kind)) return {kUninitialised, to};
    return {global ? Time{kHostWrote} : order.started() + 1, to};
  }
};

} // namespace kg::check
