// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies (PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk"): one thread
// starts a copy of many bytes. For loads into shared memory, an mbarrier counts the bytes that have
// arrived. For stores, the thread commits its copies in groups and waits for all but its latest
// ones.
//
// A GPU may move the bytes at any time. The emulator chooses the worst time, as in async_copy.h: as
// late as possible (thread order forward), at once (reverse), or either at random and in any order
// (random). Until then the destination is poisoned with 0xFF. A late load lands when no thread of
// the issuing block can proceed without it. A late store reads shared memory in the wait that
// covers it, and writes global memory in the wait without `.read`, or at the end of the block. A
// reduction is a store that updates global memory atomically; nothing is poisoned there.
//
// A block may also send bytes of its shared memory into that of a block of its cluster, where an
// mbarrier counts them. Such a copy is a load whose source is shared memory.
#pragma once

#include "runtime/error.h"
#include "runtime/host/bulk_reduction.h"
#include "runtime/host/tensor_map.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace kg::host {

class Block;

// The bytes that one copy moves, in either direction.
struct BulkMove {
  std::vector<BoxPiece> pieces;
  std::size_t bytes = 0;       // of all pieces: the count that a load completes
  unsigned char outside = 0;   // value that a load writes for pieces without global memory
  bool rounds_to_tf32 = false; // a load's f32 values
  std::optional<BulkReduction> reduction{}; // how the destination is updated; not overwritten
};

class BulkCopies {
 public:
  explicit BulkCopies(Block& block) : block_(block) {}

  // Called when a new block begins: nothing is in flight.
  void reset();

  // Issues a load by the running thread. The load completes its bytes at `barrier`, in the phase
  // that is open when it lands.
  void load(BulkMove move, std::uint64_t* barrier, Location where);
  // The same into every block of the cluster whose rank is set in `blocks`. Data and mbarrier have
  // the same offsets in each of these blocks as in this block. `to` is the destination here.
  void multicast(const BulkMove& move, const void* to, std::uint64_t* barrier, unsigned blocks,
                 const char* name, Location where);
  // Sends a piece of this block's shared memory, in place of global memory, to `to` in a block of
  // the cluster. `barrier` must be in the same block as `to`.
  void send(BulkMove move, const void* to, std::uint64_t* barrier, const char* name,
            Location where);
  void store(BulkMove move, Location where);
  void commit();
  // Waits until at most `pending` of the thread's latest groups have yet to write global memory or,
  // with `read`, to read shared memory.
  void wait_group(std::size_t pending, bool read);

  // Lands the loads into other blocks, because this block waits for those blocks as a whole.
  void land_elsewhere();
  // Lands one load, because no thread can proceed otherwise. False if there is none.
  bool deliver();

  // Called when the block has ended: writes its stores, and lands loads into other blocks. Throws
  // Error for a load in flight into this block's shared memory, because that memory may belong to
  // another block from now on. For a store in flight from it, the checkers report that.
  void finish();

 private:
  struct Load {
    BulkMove move;
    std::uint64_t* barrier;
    Location where;
    int other = -1;           // rank of the destination block; -1: this block
    bool from_shared = false; // sent by thread `sender` of this block
    unsigned sender = 0;
  };
  struct Store {
    BulkMove move;
    Location where;
    std::vector<unsigned char> data; // the data it has read
    bool has_read = false;
    bool written = false;
  };
  struct Thread {
    std::vector<Store> stores;       // not yet waited for, oldest first
    std::vector<std::size_t> groups; // for each committed group, the end of its stores
    std::size_t read = 0;            // number of oldest stores whose reads were waited for
  };

  bool moves_at_once();
  void start(Load load);
  void tell_issue(const Load& load) const;
  void tell_landing(const Load& load) const;
  void land(const Load& load);
  static void read(Store& store);
  static void write(Store& store);

  Block& block_;
  std::vector<Load> loads_;            // in flight
  std::map<unsigned, Thread> threads_; // threads with stores, by rank
};

// --- Called by device code. Addresses and `bytes` must be multiples of 16, otherwise Error (a
// trap). `name` is the function that the kernel called. blocks: as in BulkCopies::multicast.
void bulk_load(void* to, const void* from, std::size_t bytes, std::uint64_t* barrier,
               const char* name, Location where);
void bulk_multicast(void* to, const void* from, std::size_t bytes, std::uint64_t* barrier,
                    unsigned blocks, const char* name, Location where);
// `to` and `barrier` are in a block of the cluster, `from` in this block's shared memory. Combines
// the two by `reduction`, if there is one.
void bulk_send(void* to, const void* from, std::size_t bytes, std::uint64_t* barrier,
               std::optional<BulkReduction> reduction, const char* name, Location where);
void bulk_store(void* to, const void* from, std::size_t bytes, const char* name, Location where);
void bulk_reduce(BulkReduction reduction, void* to, const void* from, std::size_t bytes,
                 const char* name, Location where);
void bulk_commit(const char* name, Location where);
void bulk_wait_group(std::size_t pending, bool read, const char* name, Location where);

} // namespace kg::host
