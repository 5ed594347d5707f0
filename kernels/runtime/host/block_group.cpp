// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/block_group.h"

#include "runtime/error.h"

#include <string>

namespace kg::host {

void BlockGroup::enter(unsigned rank, Block* block) {
  std::lock_guard lock(mutex_);
  blocks_[rank] = block;
}

void BlockGroup::leave() {
  std::lock_guard lock(mutex_);
  ++left_;
  changed_.notify_all();
}

void BlockGroup::arrive_and_wait() {
  std::unique_lock lock(mutex_);
  const unsigned generation = generation_;
  if (++arrived_ == size()) {
    arrived_ = 0;
    ++generation_;
    changed_.notify_all();
    return;
  }
  changed_.wait(lock, [&] { return generation_ != generation || failed_ || left_ != 0; });
  if (generation_ != generation) return;
  const bool another_failed = failed_;
  failed_ = true;
  changed_.notify_all();
  if (another_failed) kg::fail("another block of the grid failed while this one waited for it");
  kg::fail("deadlock: " + std::to_string(left_) + " of " + std::to_string(size()) +
           " blocks ended while others wait for them in a grid or cluster barrier; every block "
           "must reach it");
}

void BlockGroup::fail() {
  std::lock_guard lock(mutex_);
  failed_ = true;
  changed_.notify_all();
}

bool BlockGroup::failed() {
  std::lock_guard lock(mutex_);
  return failed_;
}

Block* BlockGroup::block(unsigned rank) {
  std::lock_guard lock(mutex_);
  return blocks_[rank];
}

} // namespace kg::host
