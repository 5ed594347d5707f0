// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies into shared memory (PTX ISA, "Data Movement and Conversion Instructions:
// Asynchronous copy"): each thread has copies of its own, commits them in groups, and waits for all
// but its latest groups.
//
// A GPU makes the bytes arrive at any time between the issue and the wait. Here they arrive at the
// worst: the destination is poisoned with 0xFF (NaN) at the issue, and the bytes are read and
// written as late as possible, in the wait that covers them (thread order forward), or at once
// (reverse), or either, by chance and in any order (random). So a wait that is missing, a source
// that is overwritten too soon and a destination that is still in use each show in some order. A
// copy that its thread never waits for is left out: a thread may exit with a prefetch in flight,
// but what it brings is nobody's to use.
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

  // A new block begins: nothing is in flight.
  void reset();

  // What the running thread does. Of the `bytes` at `to`, the first `source_bytes` come from
  // `from`, the rest are zero.
  void issue(void* to, const void* from, std::size_t bytes, std::size_t source_bytes,
             Location where);
  void commit();
  void
  wait_group(std::size_t pending); // until at most `pending` of its latest groups are in flight
  void wait_all();                 // until none of its copies is, committed or not
  // Arrives at an mbarrier when all its copies so far have arrived.
  void arrive_on(std::uint64_t* barrier, Location where);

  // Lets the copies arrive that an mbarrier waits for: nothing else can go on. False if there are
  // none.
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
    std::size_t copies; // that come before it
    std::uint64_t* barrier;
    Location where;
  };
  struct Thread {
    std::vector<Copy> copies;        // in flight, the oldest first
    std::vector<std::size_t> groups; // for each committed group, how many copies it ends at
    std::vector<Arrival> arrivals;
  };

  Thread& running_thread();
  bool arrives_at_once();
  void complete(Thread& thread, std::size_t copies);

  Block& block_;
  std::vector<Thread> threads_; // empty until a copy is issued
  std::vector<std::size_t> order_;
};

// --- What device code calls

// A copy of 4, 8 or 16 bytes between addresses aligned to as much. Throws Error (a trap) when they
// are not, or when source_bytes exceeds bytes. `name` is the function that the kernel called.
void async_copy(void* to, const void* from, std::size_t bytes, std::size_t source_bytes,
                const char* name, Location where);
// As many bytes as the caller likes, at any address.
void async_copy_unaligned(void* to, const void* from, std::size_t bytes, const char* name,
                          Location where);
void async_commit(const char* name, Location where);
void async_wait_group(std::size_t pending, const char* name, Location where);
void async_wait_all(const char* name, Location where);
// `counted`: the arrival is one of those that the mbarrier was made for (PTX: .noinc); otherwise it
// is added to them.
void async_arrive(std::uint64_t* barrier, bool counted, const char* name, Location where);

} // namespace kg::host
