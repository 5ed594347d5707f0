// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies into shared memory (PTX ISA, "Data Movement and Conversion Instructions:
// Asynchronous copy"). Each thread issues its own copies, commits them in groups, and waits for all
// but its latest groups.
//
// A GPU delivers the bytes at any time between issue and wait. The emulator picks adverse times: at
// the issue it poisons the destination with 0xFF (NaN). The bytes are copied as late as possible,
// in the wait that covers them (thread order forward), at once (reverse), or randomly at either
// time, in any order (random). A missing wait, a source overwritten too soon, and a destination
// still in use each show up in at least one order. A copy without a wait never arrives: a thread
// may exit with a prefetch in flight, but nobody may use its data.
#pragma once

#include "runtime/error.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kg::host {

class Block;

class AsyncCopies {
 public:
  explicit AsyncCopies(Block& block) : block_(block) {}

  // Called when a new block begins: nothing is in flight.
  void reset();

  // Called for the running thread. Of the `bytes` at `to`, the first `source_bytes` come from
  // `from`; the rest are zero.
  void issue(void* to, const void* from, std::size_t bytes, std::size_t source_bytes,
             Location where);
  void commit();
  void
  wait_group(std::size_t pending); // until at most `pending` of its latest groups are in flight
  void wait_all();                 // until no copy of the thread is in flight, committed or not
  // Arrives at an mbarrier when all copies of the thread so far have arrived.
  void arrive_on(std::uint64_t* barrier, Location where);

  // Completes the copies that an mbarrier waits for, when no thread can proceed otherwise. False if
  // there are none.
  bool deliver();

 private:
  struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
    std::size_t source_bytes;
    bool arrived;
  };
  struct Arrival {
    std::size_t copies; // that precede the arrival
    std::uint64_t* barrier;
    Location where;
  };
  struct Thread {
    std::vector<Copy> copies;        // in flight, oldest first
    std::vector<std::size_t> groups; // for each committed group, the end of its copies
    std::vector<Arrival> arrivals;
  };

  Thread& running_thread();
  bool arrives_at_once();
  void complete(Thread& thread, std::size_t copies);

  Block& block_;
  std::vector<Thread> threads_; // empty until a copy is issued
  std::vector<std::size_t> order_;
};

// --- Called by device code

// A copy of 4, 8 or 16 bytes, with both addresses aligned to that size. Throws Error (a trap) if
// they are not, or if source_bytes exceeds bytes. `name` is the function that the kernel called.
void async_copy(void* to, const void* from, std::size_t bytes, std::size_t source_bytes,
                const char* name, Location where);
// Any number of bytes, at any address.
void async_copy_unaligned(void* to, const void* from, std::size_t bytes, const char* name,
                          Location where);
void async_commit(const char* name, Location where);
void async_wait_group(std::size_t pending, const char* name, Location where);
void async_wait_all(const char* name, Location where);
// `counted`: the mbarrier's expected count includes this arrival (PTX: .noinc). Otherwise the
// arrival is added to the count.
void async_arrive(std::uint64_t* barrier, bool counted, const char* name, Location where);

} // namespace kg::host
