// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/host/block.h"

#include <memory>
#include <mutex>
#include <vector>

namespace kg::host {

// Keeps blocks that ran together for reuse: mapping a thousand stacks takes longer than running a
// small kernel.
class IdleBlocks {
 public:
  std::unique_ptr<Block> take();
  void give_back(std::unique_ptr<Block> block);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

IdleBlocks& idle_blocks();

} // namespace kg::host
