// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/host/groups.h"
#include "runtime/host/vector_types.h"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

namespace kg::host {

class Block;

// Blocks that run at the same time, one OS thread each, and can wait for each other: a whole
// cooperative grid, or one cluster.
class BlockGroup {
 public:
  // `first` is the grid index of the first block, `extent` the number of blocks along each axis.
  BlockGroup(uint3 first, dim3 extent)
      : first_(first), extent_(extent), places_(size(), nullptr), blocks_(size(), nullptr),
        looked_at_(size(), kNotStalled), arrivals_(size(), 0) {}

  uint3 first() const { return first_; }
  dim3 extent() const { return extent_; }
  unsigned size() const { return extent_.x * extent_.y * extent_.z; }
  uint3 index(unsigned rank) const { // of the block within the grid
    return {first_.x + rank % extent_.x, first_.y + rank / extent_.x % extent_.y,
            first_.z + rank / (extent_.x * extent_.y)};
  }
  unsigned rank(uint3 index) const {
    return index.x - first_.x + extent_.x * (index.y - first_.y + extent_.y * (index.z - first_.z));
  }

  // Before it runs, assigns `block` (whose shared memory already has an address) to `index`.
  void place(uint3 index, Block* block);
  // The block starts to run.
  void enter(uint3 index, Block* block);
  // The block has ended. Waiting for it is now in vain.
  void leave(uint3 index);

  // Waits for every block of the group. Called by one thread per block. Returns the number of
  // blocks that ended without arriving; 0 if all have arrived. Throws Error if the group has
  // failed.
  unsigned arrive_and_wait(const Turn& turn);

  // Aborts every waiting block. Only the first reason is kept.
  void fail(const std::exception_ptr& reason);
  std::exception_ptr failure(); // null if the group has not failed

  Block* block(unsigned rank); // null unless it is running
  Block* placed(unsigned rank) const { return places_[rank]; }
  bool others_run(); // besides the caller

  // barrier.cluster (cluster_barrier.h): all threads of the block at `index` have exited or arrived
  // in `phase`, counted from 1. Returns whether this completes a phase of the group.
  static constexpr unsigned kForGood = ~0u;
  bool arrive(uint3 index, unsigned phase);
  unsigned phases(); // completed phases

  // Four words for block barriers in code compiled by nvcc (runtime/ptx); initially zero.
  std::uint32_t* workspace() { return workspace_; }

  // For blocks that wait for writes into their shared memory. Writers call changed(). A waiter
  // reads changes(), looks, and if in vain passes that count to stalled(), which returns true if no
  // block of the group can proceed. It calls resumed() before it proceeds.
  void changed();
  std::uint64_t changes();
  bool stalled(uint3 index, std::uint64_t changes);
  void resumed(uint3 index);

 private:
  static std::uint32_t* free_workspace();

  uint3 first_;
  dim3 extent_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Block*> places_;
  std::vector<Block*> blocks_; // the running blocks
  static constexpr std::uint64_t kNotStalled = ~std::uint64_t{0};
  std::vector<std::uint64_t> looked_at_; // for each stalled block, the changes that it has seen
  std::vector<unsigned> arrivals_;       // for each block, the phase of its last arrival
  std::uint64_t changes_ = 0;
  unsigned arrived_ = 0;
  unsigned left_ = 0;
  unsigned generation_ = 0;
  std::exception_ptr failure_;
  std::uint32_t* workspace_ = free_workspace();
};

} // namespace kg::host
