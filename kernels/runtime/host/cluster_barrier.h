// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// barrier.cluster (PTX ISA, "Parallel Synchronization and Communication Instructions"): a thread
// arrives, goes on, and later waits until all threads of the cluster that have not exited have
// arrived. Without a cluster the block is one of its own.
#pragma once

#include "runtime/error.h"

#include <vector>

namespace kg::host {

class Block;

// One block's part in it.
class ClusterBarrier {
 public:
  explicit ClusterBarrier(Block& block) : block_(block) {}

  void reset(); // before the next block
  bool used() const { return !phase_of_.empty(); }

  // A relaxed arrival hands over only what a fence before it covers.
  void arrive(bool relaxed, Location where);
  void wait(Location where);
  // The thread is over; nobody waits for it.
  void exited(unsigned thread);

 private:
  static bool ended(const void* barrier, unsigned phase);
  const void* object() const; // that the observer knows it by
  void all_arrived(unsigned phase);

  Block& block_;
  std::vector<unsigned> phase_of_; // that a thread has arrived in and not waited for; 0: none
  unsigned phase_ = 1;             // in which threads arrive
  unsigned arrived_ = 0;           // in it
};

} // namespace kg::host
