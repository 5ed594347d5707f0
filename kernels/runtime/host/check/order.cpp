// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/order.h"

#include <bit>

namespace kg::check {
namespace {

constexpr unsigned kMaxThreads = kThreadMask + 1;

// One of the two where it covers the other, so that threads share a clock again after a barrier.
ClockPointer joined(const ClockPointer& a, const ClockPointer& b) {
  if (b->covers(*a)) return b;
  if (a->covers(*b)) return a;
  Clock both = *a;
  both.learn(*b);
  return std::make_shared<Clock>(std::move(both));
}

void learn_anew(Gathered& to, ClockPointer& last, const ClockPointer& told) {
  if (!told || told == last) return;
  to.clock.learn(*told);
  last = told;
}

} // namespace

void BlockOrder::begin(Who block, Time launch_floor, Time now) {
  block_ = block & kBlockMask;
  launch_floor_ = launch_floor;
  started_ = block_floor_ = now;
  warp_floor_.fill(now);
  irregular_ = false;
  block_clock_ = nullptr;
  thread_clock_.clear();
  joined_ = {};
  fenced_ = nullptr;
  device_fences_.clear();
  block_fences_.clear();
  init_fences_.clear();
}

bool BlockOrder::knows_init(const Access& init, unsigned thread) const {
  return (!thread_clock_.empty() && thread_clock_[thread] &&
          thread_clock_[thread]->knows_init(init)) ||
         (block_clock_ && block_clock_->knows_init(init));
}

bool BlockOrder::knows(const Access& access, unsigned thread) const {
  return (!thread_clock_.empty() && thread_clock_[thread] &&
          thread_clock_[thread]->knows(access)) ||
         (block_clock_ && block_clock_->knows(access));
}

void BlockOrder::gather_fences() {
  block_fences_.clear(); // the barrier already orders all of it
  if (device_fences_.empty()) return;
  Gathered all;
  if (fenced_) all.clock = *fenced_;
  for (const auto& [thread, fence] : device_fences_) tell(all, thread, fence);
  fenced_ = std::make_shared<Clock>(std::move(all.clock));
  device_fences_.clear();
}

void BlockOrder::block_synchronised(Time now) {
  gather_fences();
  block_floor_ = now;
  if (thread_clock_.empty()) return;
  // The floor covers this block; knowledge of other blocks by any thread becomes known to all.
  Clock foreign = block_clock_ ? *block_clock_ : Clock();
  const Clock* last = nullptr;
  for (const ClockPointer& clock : thread_clock_) {
    if (clock && clock.get() != last) foreign.learn(clock->except(block_));
    last = clock.get();
  }
  thread_clock_.clear();
  block_clock_ = foreign.empty() ? nullptr : std::make_shared<Clock>(std::move(foreign));
  irregular_ = block_clock_ != nullptr;
}

void BlockOrder::warp_synchronised(unsigned warp, unsigned lanes, bool all_lanes, Time now) {
  if (all_lanes) warp_floor_[warp] = now;
  if (all_lanes && thread_clock_.empty()) return;
  Clock together;
  const Clock* last = nullptr;
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned thread = warp * 32 + static_cast<unsigned>(std::countr_zero(rest));
    together.learn(Clock::thread_key(block_ | thread), now);
    if (thread_clock_.empty() || !thread_clock_[thread]) continue;
    if (thread_clock_[thread].get() != last) together.learn(*thread_clock_[thread]);
    last = thread_clock_[thread].get();
  }
  thread_clock_.resize(kMaxThreads);
  const auto shared = std::make_shared<const Clock>(std::move(together));
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    thread_clock_[warp * 32 + static_cast<unsigned>(std::countr_zero(rest))] = shared;
  }
  irregular_ = true;
}

BlockOrder::Fence BlockOrder::state_of(unsigned thread, Time now) const {
  return {now, block_floor_, warp_floor_[thread / 32],
          thread_clock_.empty() ? nullptr : thread_clock_[thread], block_clock_};
}

bool BlockOrder::before(const Access& access, unsigned thread, const Fence& state) const {
  if (access.time <= launch_floor_) return true;
  if (access.time < kInFlight && ((access.who ^ block_) & kBlockMask) == 0) {
    const unsigned other = access.who & kThreadMask;
    if (access.time <= state.block_floor) return true;
    if (other == thread && access.time <= state.time) return true;
    if (other / 32 == thread / 32 && access.time <= state.warp_floor) return true;
  }
  return (state.thread_clock && state.thread_clock->knows(access)) ||
         (state.block_clock && state.block_clock->knows(access));
}

void BlockOrder::fence(unsigned thread, bool block_scope, Time now) {
  (block_scope ? block_fences_ : device_fences_)[thread] = state_of(thread, now);
}

// Adds everything that `thread` knew in that state, itself included.
void BlockOrder::tell(Gathered& to, unsigned thread, const Fence& state) const {
  const Who who = block_ | thread;
  to.clock.learn(Clock::thread_key(who), state.time);
  if (state.block_floor > started_) to.clock.learn(Clock::block_key(who), state.block_floor);
  if (state.warp_floor > started_) to.clock.learn(Clock::warp_key(who), state.warp_floor);
  learn_anew(to, to.of_thread, state.thread_clock);
  learn_anew(to, to.of_block, state.block_clock);
}

void BlockOrder::release(unsigned thread, SyncObject& object, Time now) const {
  tell(object.gathered, thread, state_of(thread, now));
}

void BlockOrder::release_fenced(unsigned thread, SyncObject& object) const {
  learn_anew(object.gathered, object.gathered.of_fences, fenced_);
  if (const auto fence = init_fences_.find(thread); fence != init_fences_.end())
    object.gathered.clock.learn(Clock::init_key(block_ | thread), fence->second);
  if (const auto fence = device_fences_.find(thread); fence != device_fences_.end())
    tell(object.gathered, thread, fence->second);
  if (const auto fence = block_fences_.find(thread); fence != block_fences_.end()) {
    if (object.block != block_) object.block_gathered = {};
    object.block = block_;
    tell(object.block_gathered, thread, fence->second);
  }
}

void BlockOrder::acquire(unsigned thread, const ClockPointer& clock) {
  if (!clock || clock->empty()) return;
  thread_clock_.resize(kMaxThreads);
  ClockPointer& own = thread_clock_[thread];
  if (!own || own == clock) {
    own = clock;
  } else {
    if (own != joined_.own || clock != joined_.other) joined_ = {own, clock, joined(own, clock)};
    own = joined_.both;
  }
  irregular_ = true;
}

void BlockOrder::acquire_atomic(unsigned thread, const SyncObject& object) {
  const auto gathered = [&](const Gathered& from) {
    if (!from.clock.empty()) acquire(thread, std::make_shared<Clock>(from.clock));
  };
  gathered(object.gathered);
  if (object.block == block_) gathered(object.block_gathered);
}

} // namespace kg::check
