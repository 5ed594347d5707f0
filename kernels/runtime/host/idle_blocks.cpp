// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/idle_blocks.h"

#include "runtime/host/virtual_device.h"

namespace kg::host {

std::unique_ptr<Block> IdleBlocks::take() {
  std::lock_guard lock(mutex_);
  if (blocks_.empty()) return std::make_unique<Block>();
  std::unique_ptr<Block> block = std::move(blocks_.back());
  blocks_.pop_back();
  return block;
}

void IdleBlocks::give_back(std::unique_ptr<Block> block) {
  constexpr std::size_t kMost = 2 * kMaxClusterBlocks; // each has megabytes of stacks
  std::lock_guard lock(mutex_);
  if (blocks_.size() < kMost) blocks_.push_back(std::move(block));
}

IdleBlocks& idle_blocks() {
  static IdleBlocks blocks;
  return blocks;
}

} // namespace kg::host
