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

// Blocks that run at the same time, one OS thread each, and can wait for each other: all of a
// cooperative grid, or one cluster.
class BlockGroup {
 public:
  // `first` is the grid index of the first block and `extent` the number of blocks along each axis.
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

  // The block at `index` will be run by `block`, whose shared memory has an address before.
  void place(uint3 index, Block* block);
  // It is from now on.
  void enter(uint3 index, Block* block);
  // It is over. Blocks that wait for it wait in vain.
  void leave(uint3 index);

  // Waits for every block of the group. Called by one thread per block. Returns how many blocks
  // have ended instead of coming: 0 when the wait was not in vain. Throws Error when the group has
  // failed.
  unsigned arrive_and_wait(const Turn& turn);

  // Lets every waiting block give up. The first reason is the group's.
  void fail(const std::exception_ptr& reason);
  std::exception_ptr failure(); // null when there is none

  Block* block(unsigned rank); // null unless it is running
  Block* placed(unsigned rank) const { return places_[rank]; }
  bool others_run(); // besides the one that asks

  // barrier.cluster (cluster_barrier.h): all threads of the block at `index` have arrived in
  // `phase`, the first of which is 1, or they are over. Whether it ends one of the group.
  static constexpr unsigned kForGood = ~0u;
  bool arrive(uint3 index, unsigned phase);
  unsigned phases(); // that have ended

  // Four words for the blocks' barriers as nvcc compiled them (runtime/ptx); zeros at first.
  std::uint32_t* workspace() { return workspace_; }

  // For blocks that wait for what others write into their shared memory. A block that has written
  // calls changed(). One that looks in vain takes changes() before it looks, and calls stalled()
  // with it; true when no block of the group can go on. It calls resumed() before it goes on.
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
  std::vector<Block*> blocks_; // those that are running
  static constexpr std::uint64_t kNotStalled = ~std::uint64_t{0};
  std::vector<std::uint64_t> looked_at_; // for each stalled block, the changes that it knows of
  std::vector<unsigned> arrivals_;       // the phase that each block has arrived in last
  std::uint64_t changes_ = 0;
  unsigned arrived_ = 0;
  unsigned left_ = 0;
  unsigned generation_ = 0;
  std::exception_ptr failure_;
  std::uint32_t* workspace_ = free_workspace();
};

} // namespace kg::host
