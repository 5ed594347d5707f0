// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// barrier.cluster (PTX ISA, "Parallel Synchronization and Communication Instructions"): a thread
// arrives, continues, and later waits until all threads of the cluster that have not exited have
// arrived. Without a cluster, the block counts as a cluster of one.
#pragma once

#include "runtime/error.h"

#include <vector>

namespace kg::host {

class Block;

// One block's side of the barrier.
class ClusterBarrier {
 public:
  explicit ClusterBarrier(Block& block) : block_(block) {}

  void reset(); // before the next block
  bool used() const { return !phase_of_.empty(); }

  // A relaxed arrival releases only the accesses before the thread's last fence.
  void arrive(bool relaxed, Location where);
  void wait(Location where);
  // The thread has exited; nobody waits for it any more.
  void exited(unsigned thread);

 private:
  static bool ended(const void* barrier, unsigned phase);
  const void* object() const; // identifies the barrier to the observer
  void all_arrived(unsigned phase);

  Block& block_;
  std::vector<unsigned> phase_of_; // that each thread arrived in but did not wait for; 0: none
  unsigned phase_ = 1;             // the open phase
  unsigned arrived_ = 0;           // number of arrivals in it
};

} // namespace kg::host
