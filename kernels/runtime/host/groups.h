// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The other blocks that run together with a block. Every kernel includes this header, so the
// implementation (block_group.h, turns.h) and the standard's thread headers stay out of it.
#pragma once

#include <exception>

namespace kg::host {

class BlockGroup;
class Resident;
class Turns;

// One thread's rank among the OS threads that take turns; without turns it does nothing.
struct Turn {
  Turns* turns = nullptr;
  unsigned rank = 0;

  void begin() const;
  void yield() const;
  void end() const;
};

// The groups of a block; null if its launch has none.
struct Groups {
  BlockGroup* grid = nullptr;
  BlockGroup* cluster = nullptr;
  Turn turn;                    // with an observer: the block's turn among those that run together
  Resident* resident = nullptr; // if the blocks are independent

  void fail(const std::exception_ptr& reason) const;
  void changed() const;
  // Whether another block of the cluster could still change this block's shared memory.
  bool others_run() const;
  bool failed() const;
  // Whether other blocks run or stand aside concurrently with this block.
  bool beside_others() const;
};

} // namespace kg::host
