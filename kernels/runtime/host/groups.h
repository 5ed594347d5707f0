// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which other blocks a block runs beside. Every kernel includes it, so what holds the groups
// together (block_group.h, turns.h), and the standard's threads with that, stays out.
#pragma once

#include <exception>

namespace kg::host {

class BlockGroup;
class Resident;
class Turns;

// One thread's place among the OS threads that take turns; without any turns, it does nothing.
struct Turn {
  Turns* turns = nullptr;
  unsigned rank = 0;

  void begin() const;
  void yield() const;
  void end() const;
};

// The groups that a block belongs to; null where its launch makes none.
struct Groups {
  BlockGroup* grid = nullptr;
  BlockGroup* cluster = nullptr;
  Turn turn; // under an observer: the block's place among those that run together
  Resident* resident = nullptr; // where the blocks are independent

  void fail(const std::exception_ptr& reason) const;
  void changed() const;
  // Whether another block of the cluster could still change this one's shared memory.
  bool others_run() const;
  bool failed() const;
  // Whether blocks run, or stand aside, beside this one.
  bool beside_others() const;
};

} // namespace kg::host
