// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A pipeline through shared memory: one thread fills its stages by bulk copies, and warpgroups
// consume them. Each stage has two mbarriers. The phase of `full` ends when all expected bytes have
// arrived. The phase of `empty` ends when all consumers have released the stage.
//
// If the blocks of a cluster load slices for each other, each block has such a pipeline, at the
// same offset in shared memory. A producer writes to all blocks, so a stage is empty only when the
// consumers of all blocks have released it.
//
//   auto& pipeline = *reinterpret_cast<BulkPipeline<kStages>*>(in dynamic shared memory);
//   if (threadIdx.x == 0) pipeline.init(consumers of all blocks);
//   ptx::cluster_sync();
//   PipelineState<kStages> state;        // one for each role, never reset
//   producer: pipeline.producer_acquire(state, bytes);
//             copies that complete at pipeline.full(state); state.advance();
//   consumer: pipeline.consumer_wait(state); ... pipeline.consumer_release(state, each block);
//             state.advance();
//   ptx::cluster_sync(); // no block exits before the others have released their last stages
//
// Architecture 9.0 and above.
#pragma once

#include "instructions/mbarrier.h"

#include <cstdint>

namespace kg {

// The next stage, and the phase of its barriers. Both continue across tiles.
template <int kStages>
class PipelineState {
 public:
  __device__ __forceinline__ int stage() const { return stage_; }
  // The parity of the phase in which this round's bytes arrive.
  __device__ __forceinline__ unsigned parity() const { return parity_; }
  __device__ __forceinline__ void advance() {
    if (++stage_ < kStages) return;
    stage_ = 0;
    parity_ ^= 1;
  }

 private:
  int stage_ = 0;
  unsigned parity_ = 0;
};

template <int kStages>
struct BulkPipeline {
  using State = PipelineState<kStages>;
  std::uint64_t full_[kStages], empty_[kStages];

  // Called by one thread, before the cluster syncs. consumers: releases that empty a stage.
  __device__ __forceinline__ void init(unsigned consumers) {
    KG_UNROLL
    for (int i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(full_ + i, 1);
      ptx::mbarrier_init(empty_ + i, consumers);
    }
    ptx::fence_mbarrier_init();
  }

  // The barrier at which copies into the stage complete.
  __device__ __forceinline__ std::uint64_t* full(const State& state) {
    return full_ + state.stage();
  }

  // Waits until the stage is empty. In the first round it returns at once: the phase before the
  // first one counts as ended.
  __device__ __forceinline__ void producer_wait(const State& state) {
    ptx::mbarrier_wait_parity(empty_ + state.stage(), state.parity() ^ 1);
  }
  // Announces how many bytes to expect. Consumers see what the thread wrote before.
  __device__ __forceinline__ void producer_expect(const State& state, unsigned bytes) {
    ptx::mbarrier_arrive_expect_tx(full(state), bytes);
  }
  // Both steps, for a stage that bulk copies alone fill.
  __device__ __forceinline__ void producer_acquire(const State& state, unsigned bytes) {
    producer_wait(state);
    producer_expect(state, bytes);
  }

  // Waits until the bytes have arrived.
  __device__ __forceinline__ void consumer_wait(const State& state) {
    ptx::mbarrier_wait_parity(full(state), state.parity());
  }
  // Releases the stage in block `block`. One thread of each consumer calls it for every block of
  // the cluster, when no pending operation of the consumer reads the stage any more.
  __device__ __forceinline__ void consumer_release(const State& state, unsigned block) {
    ptx::mbarrier_arrive_cluster_after_reads(empty_ + state.stage(), block);
  }
};

} // namespace kg
