// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/block_group.h"

#include "runtime/error.h"
#include "runtime/host/observer.h"
#include "runtime/host/residents.h"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace kg::host {

// A static variable, which the checkers treat as device memory: they look there for the ordering
// between a grid's blocks. At most this many groups run at once.
std::uint32_t* BlockGroup::free_workspace() {
  static std::uint32_t words[1024][4];
  static std::atomic<unsigned> next = 0;
  std::uint32_t* const workspace = words[next++ % std::size(words)];
  std::fill_n(workspace, std::size(words[0]), 0);
  return workspace;
}

void BlockGroup::place(uint3 index, Block* block) { places_[rank(index)] = block; }

void BlockGroup::enter(uint3 index, Block* block) {
  std::lock_guard lock(mutex_);
  blocks_[rank(index)] = block;
}

void BlockGroup::leave(uint3 index) {
  std::lock_guard lock(mutex_);
  blocks_[rank(index)] = nullptr;
  looked_at_[rank(index)] = kNotStalled;
  arrivals_[rank(index)] = kForGood;
  ++changes_;
  ++left_;
  changed_.notify_all();
}

bool BlockGroup::arrive(uint3 index, unsigned phase) {
  std::lock_guard lock(mutex_);
  const unsigned before = *std::ranges::min_element(arrivals_);
  arrivals_[rank(index)] = phase;
  ++changes_;
  const unsigned now = *std::ranges::min_element(arrivals_);
  return now > before && now != kForGood; // if all blocks have ended, none waits
}

unsigned BlockGroup::phases() {
  std::lock_guard lock(mutex_);
  return *std::ranges::min_element(arrivals_);
}

unsigned BlockGroup::arrive_and_wait(const Turn& turn) {
  std::unique_lock lock(mutex_);
  const unsigned generation = generation_;
  if (++arrived_ == size()) {
    if (observer) observer->barrier_completed(this);
    arrived_ = 0;
    ++generation_;
    changed_.notify_all();
    return 0;
  }
  const auto over = [&] { return generation_ != generation || failure_ || left_ != 0; };
  while (turn.turns && !over()) {
    lock.unlock();
    turn.yield();
    lock.lock();
  }
  changed_.wait(lock, over);
  if (generation_ != generation) return 0;
  if (failure_) kg::fail("another block failed while this one waited for it");
  return left_;
}

void BlockGroup::fail(const std::exception_ptr& reason) {
  std::lock_guard lock(mutex_);
  if (!failure_) failure_ = reason;
  changed_.notify_all();
}

std::exception_ptr BlockGroup::failure() {
  std::lock_guard lock(mutex_);
  return failure_;
}

Block* BlockGroup::block(unsigned rank) {
  std::lock_guard lock(mutex_);
  return blocks_[rank];
}

void BlockGroup::changed() {
  std::lock_guard lock(mutex_);
  ++changes_;
}

std::uint64_t BlockGroup::changes() {
  std::lock_guard lock(mutex_);
  return changes_;
}

bool BlockGroup::stalled(uint3 index, std::uint64_t changes) {
  std::lock_guard lock(mutex_);
  looked_at_[rank(index)] = changes;
  const auto idle = std::count(looked_at_.begin(), looked_at_.end(), changes_);
  return static_cast<unsigned>(idle) + arrived_ + left_ == size();
}

void BlockGroup::resumed(uint3 index) {
  std::lock_guard lock(mutex_);
  looked_at_[rank(index)] = kNotStalled;
}

bool BlockGroup::others_run() {
  std::lock_guard lock(mutex_);
  return left_ + 1 < size();
}

void Groups::fail(const std::exception_ptr& reason) const {
  if (grid) grid->fail(reason);
  if (cluster) cluster->fail(reason);
}

void Groups::changed() const {
  if (cluster) cluster->changed();
}

bool Groups::others_run() const { return cluster && cluster->others_run(); }

bool Groups::beside_others() const {
  return grid || cluster || (resident && resident->is_crowded());
}

bool Groups::failed() const { return (grid && grid->failure()) || (cluster && cluster->failure()); }

} // namespace kg::host
