// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies (PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk"): one thread
// asks for many bytes to be moved. Into shared memory an mbarrier counts the bytes that have come;
// out of it the thread commits its copies in groups and waits for all but its latest groups.
//
// A GPU moves the bytes at any time. Here they move at the worst, as async_copy.h has it: as late
// as possible (thread order forward), at once (reverse), or either, by chance and in any order
// (random). Where the bytes are to go is poisoned with 0xFF meanwhile. A load comes when no thread
// can go on without it; a store reads shared memory in the wait that covers it, and writes global
// memory in the wait without `.read`, or at the end of the block.
#pragma once

#include "runtime/error.h"
#include "runtime/host/tensor_map.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kg::host {

class Block;

// What one copy moves, in either direction.
struct BulkMove {
  std::vector<BoxPiece> pieces;
  std::size_t bytes = 0;     // of all pieces: what a load completes
  unsigned char outside = 0; // what a load writes where a piece has no global memory
};

class BulkCopies {
 public:
  explicit BulkCopies(Block& block) : block_(block) {}

  // A new block begins: nothing is in flight.
  void reset();

  // By the running thread. The load completes its bytes at `barrier`, in the phase that is open
  // when it has come.
  void load(BulkMove move, std::uint64_t* barrier, Location where);
  void store(BulkMove move, Location where);
  void commit();
  // Until at most `pending` of the thread's latest groups have yet to write global memory or, with
  // `read`, to read shared memory.
  void wait_group(std::size_t pending, bool read);

  // Lets one load come: nothing else can go on. False if there is none.
  bool deliver();

  // The block has run to its end: stores that have read their source are written. Throws Error for
  // a copy from or to its shared memory that is in flight, since that memory is another block's
  // from now on.
  void finish();

 private:
  struct Load {
    BulkMove move;
    std::uint64_t* barrier;
    Location where;
  };
  struct Store {
    BulkMove move;
    Location where;
    std::vector<unsigned char> data; // what it has read
    bool has_read = false;
    bool written = false;
  };
  struct Thread {
    std::vector<Store> stores;       // that have not been waited for, the oldest first
    std::vector<std::size_t> groups; // for each committed group, how many stores it ends at
    std::size_t read = 0;            // of the stores, the oldest: their reading was waited for
  };

  bool moves_at_once();
  void land(const Load& load);
  static void read(Store& store);
  static void write(Store& store);

  Block& block_;
  std::vector<Load> loads_;            // in flight
  std::map<unsigned, Thread> threads_; // those that store, by rank
};

// --- What device code calls. Addresses and `bytes` are multiples of 16, else Error (a trap).
// `name` is the function that the kernel called.
void bulk_load(void* to, const void* from, std::size_t bytes, std::uint64_t* barrier,
               const char* name, Location where);
void bulk_store(void* to, const void* from, std::size_t bytes, const char* name, Location where);
void bulk_commit(const char* name, Location where);
void bulk_wait_group(std::size_t pending, bool read, const char* name, Location where);

} // namespace kg::host
