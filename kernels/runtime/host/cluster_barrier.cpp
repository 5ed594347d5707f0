// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/cluster_barrier.h"

#include "runtime/host/block.h"
#include "runtime/host/block_group.h"
#include "runtime/host/observer.h"

namespace kg::host {

void ClusterBarrier::reset() {
  phase_of_.clear();
  phase_ = 1;
  arrived_ = 0;
}

void ClusterBarrier::arrive(bool relaxed, Location where) {
  constexpr const char* kName = "barrier.cluster.arrive";
  block_.perturb(kName, where);
  if (!used()) phase_of_.resize(block_.thread_count());
  unsigned& mine = phase_of_[block_.thread_rank()];
  if (mine != 0)
    block_.trap("barrier.cluster.arrive for the second time without a barrier.cluster.wait", where);
  mine = phase_;
  if (observer && relaxed) observer->barrier_arrived_relaxed(object());
  if (observer && !relaxed) observer->barrier_arrived(object());
  if (++arrived_ == block_.alive_count()) all_arrived(phase_);
}

void ClusterBarrier::wait(Location where) {
  if (!used() || phase_of_[block_.thread_rank()] == 0)
    block_.trap("barrier.cluster.wait without a barrier.cluster.arrive", where);
  unsigned& mine = phase_of_[block_.thread_rank()];
  block_.wait_until(&ended, this, mine, "barrier.cluster.wait", where);
  mine = 0;
  if (observer) observer->barrier_passed(object());
}

void ClusterBarrier::exited(unsigned thread) {
  if (used() && phase_of_[thread] == phase_) --arrived_;
  if (block_.alive_count() == 0)
    all_arrived(BlockGroup::kForGood);
  else if (arrived_ != 0 && arrived_ == block_.alive_count())
    all_arrived(phase_);
}

void ClusterBarrier::all_arrived(unsigned phase) {
  ++phase_;
  arrived_ = 0;
  BlockGroup* const cluster = block_.groups().cluster;
  const bool ends = !cluster || cluster->arrive(blockIdx, phase);
  if (ends && observer) observer->barrier_completed(object());
  if (ends) block_.state_changed();
}

bool ClusterBarrier::ended(const void* barrier, unsigned phase) {
  const auto& self = *static_cast<const ClusterBarrier*>(barrier);
  BlockGroup* const cluster = self.block_.groups().cluster;
  return cluster ? cluster->phases() >= phase : self.phase_ > phase;
}

const void* ClusterBarrier::object() const {
  const BlockGroup* const cluster = block_.groups().cluster;
  return cluster ? static_cast<const void*>(cluster) : this;
}

} // namespace kg::host
