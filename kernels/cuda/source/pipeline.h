// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuda::pipeline (libcu++). At thread scope, a thread waits for its own copies. At block scope,
// producers and consumers wait for each other.
#pragma once

#include "cuda/source/barrier.h"
#include "runtime/host/atomics.h"

#include <cstddef>
#include <cstdint>

namespace cuda {

template <thread_scope Scope>
class pipeline {
  static_assert(Scope == thread_scope_thread,
                "Kernelgrade: a cuda::pipeline runs on the CPU emulator with thread_scope_thread "
                "and thread_scope_block");

 public:
  void producer_acquire() {}
  void producer_commit(Location where = Location::here()) {
    kg::host::async_commit("pipeline::producer_commit", where);
    ++committed_;
  }
  // Waits for the oldest stage that has not been released.
  void consumer_wait(Location where = Location::here()) {
    kg::host::async_wait_group(committed_ > released_ ? committed_ - released_ - 1 : 0,
                               "pipeline::consumer_wait", where);
  }
  void consumer_release() { ++released_; }

 private:
  std::size_t committed_ = 0, released_ = 0;
};
inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

// Waits for all stages except the latest `Prior`.
template <unsigned Prior>
void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&,
                                  Location where = Location::here()) {
  kg::host::async_wait_group(Prior, "pipeline_consumer_wait_prior", where);
}

// --- Block scope

enum class pipeline_role { producer, consumer };

namespace detail {

// A stage is full when the copies of all producers have arrived, and empty when all consumers have
// released it. Each state is a phase of an mbarrier.
struct PipelineStage {
  std::uint64_t full, empty;
};

} // namespace detail

template <thread_scope Scope, std::uint8_t Stages>
struct pipeline_shared_state { // in shared memory: no constructor
  static_assert(Scope == thread_scope_block);
  detail::PipelineStage stages[Stages];
  unsigned producers;
};

template <>
class pipeline<thread_scope_block> {
 public:
  pipeline(detail::PipelineStage* stages, unsigned count) : stages_(stages), count_(count) {}

  void producer_acquire(Location where = Location::here()) {
    // In the first round all stages are empty: the phase before an mbarrier's first is complete.
    kg::host::mbarrier_wait(&stage(produced_).empty, round(produced_) ^ 1, where);
  }
  void producer_commit(Location where = Location::here()) {
    kg::host::async_arrive(&stage(produced_++).full, true, "pipeline::producer_commit", where);
  }
  void consumer_wait(Location where = Location::here()) {
    kg::host::mbarrier_wait(&stage(consumed_).full, round(consumed_), where);
  }
  void consumer_release(Location where = Location::here()) {
    kg::host::mbarrier_arrive(&stage(consumed_++).empty, 1, 0, where);
  }

 private:
  detail::PipelineStage& stage(unsigned number) const { return stages_[number % count_]; }
  unsigned round(unsigned number) const { return number / count_ % 2; }

  detail::PipelineStage* stages_;
  unsigned count_;
  unsigned produced_ = 0, consumed_ = 0; // number of stages, by this thread
};

namespace detail {

template <class Group, std::uint8_t Stages>
pipeline<thread_scope_block>
start_pipeline(const Group& group, pipeline_shared_state<thread_scope_block, Stages>& state,
               unsigned producers, unsigned consumers, Location where) {
  if (group.thread_rank() == 0) {
    for (PipelineStage& stage : state.stages) {
      kg::host::mbarrier_init(&stage.full, producers, where);
      kg::host::mbarrier_init(&stage.empty, consumers, where);
    }
  }
  group.sync(where);
  return {state.stages, Stages};
}

} // namespace detail

// Every thread of the group is a producer and a consumer.
template <class Group, std::uint8_t Stages>
pipeline<thread_scope_block> make_pipeline(const Group& group,
                                           pipeline_shared_state<thread_scope_block, Stages>* state,
                                           Location where = Location::here()) {
  return detail::start_pipeline(group, *state, group.size(), group.size(), where);
}
// Each thread passes its role.
template <class Group, std::uint8_t Stages>
pipeline<thread_scope_block> make_pipeline(const Group& group,
                                           pipeline_shared_state<thread_scope_block, Stages>* state,
                                           pipeline_role role, Location where = Location::here()) {
  if (group.thread_rank() == 0) state->producers = 0;
  group.sync(where);
  if (role == pipeline_role::producer) atomicAdd(&state->producers, 1u);
  group.sync(where);
  const unsigned producers = state->producers;
  return detail::start_pipeline(group, *state, producers, group.size() - producers, where);
}
// The first `producers` threads produce.
template <class Group, std::uint8_t Stages>
pipeline<thread_scope_block>
make_pipeline(const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state,
              std::size_t producers, Location where = Location::here()) {
  return detail::start_pipeline(group, *state, static_cast<unsigned>(producers),
                                group.size() - static_cast<unsigned>(producers), where);
}

// --- Copies that belong to a stage

template <class T, thread_scope Scope>
void memcpy_async(T* to, const T* from, std::size_t bytes, pipeline<Scope>&,
                  Location where = Location::here()) {
  detail::copy_pieces(to, from, bytes, 0, 1, where);
}
template <class Group, class T, thread_scope Scope>
void memcpy_async(const Group& group, T* to, const T* from, std::size_t bytes, pipeline<Scope>&,
                  Location where = Location::here()) {
  detail::copy_pieces(to, from, bytes, group.thread_rank(), group.size(), where);
}

} // namespace cuda
