// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects with release and acquire: mbarriers, named barriers, atomics.
#include "runtime/host/check/access_check.h"
#include "runtime/host/check/checker.h"

#include <memory>

namespace kg::check {

SyncObjects& Checker::objects_of(const void* object, BlockState& state) {
  const Page* const page = shadow_.find(address_of(object));
  if (page && page->space == Space::global) return objects_;
  return state.in_group ? group_objects_ : state.objects;
}

void Checker::barrier_arrived(const void* object) {
  const Aside aside(aside_);
  host::Block& block = *host::current_block;
  BlockState& state = state_of(block);
  judge_from_now_on(state);
  const Page* const page = shadow_.find(address_of(object));
  state.uses_mbarrier |= page && page->space != Space::global; // else the executor's own barrier
  state.order.release(block.thread_rank(), objects_of(object, state)[address_of(object)], now_++);
}

void Checker::barrier_arrived_relaxed(const void* object) {
  const Aside aside(aside_);
  host::Block& block = *host::current_block;
  BlockState& state = state_of(block);
  judge_from_now_on(state);
  state.order.release_fenced(block.thread_rank(), objects_of(object, state)[address_of(object)]);
}

void Checker::barrier_completed(const void* object) {
  const Aside aside(aside_);
  SyncObject& sync = objects_of(object, state_of(*host::current_block))[address_of(object)];
  phase_ended(object, sync);
  sync.completed = std::make_shared<Clock>(sync.gathered.clock);
}

void Checker::barrier_passed(const void* object) {
  const Aside aside(aside_);
  host::Block& block = *host::current_block;
  BlockState& state = state_of(block);
  state.order.acquire(block.thread_rank(), objects_of(object, state)[address_of(object)].completed);
}

} // namespace kg::check
