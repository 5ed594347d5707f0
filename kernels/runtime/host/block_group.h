// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/host/vector_types.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace kg::host {

class Block;

// Blocks that run at the same time, one OS thread each, and can wait for each other: all of a
// cooperative grid, or one cluster.
class BlockGroup {
 public:
  // `first` is the grid index of the first block and `extent` the number of blocks along each axis.
  BlockGroup(uint3 first, dim3 extent) : first_(first), extent_(extent), blocks_(size(), nullptr) {}

  uint3 first() const { return first_; }
  dim3 extent() const { return extent_; }
  unsigned size() const { return extent_.x * extent_.y * extent_.z; }
  uint3 index(unsigned rank) const { // of the block within the grid
    return {first_.x + rank % extent_.x, first_.y + rank / extent_.x % extent_.y,
            first_.z + rank / (extent_.x * extent_.y)};
  }

  // Rank `rank` is run by `block` from now on.
  void enter(unsigned rank, Block* block);
  // Its block is over. Blocks that wait for it will wait in vain: that is reported.
  void leave();

  // Waits for every block of the group. Called by one thread per block. Throws Error when a block
  // has ended without arriving or failed.
  void arrive_and_wait();

  // Lets every waiting block give up.
  void fail();
  bool failed();

  Block* block(unsigned rank); // valid between two arrive_and_wait() while the block runs

 private:
  uint3 first_;
  dim3 extent_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Block*> blocks_;
  unsigned arrived_ = 0;
  unsigned left_ = 0;
  unsigned generation_ = 0;
  bool failed_ = false;
};

} // namespace kg::host
