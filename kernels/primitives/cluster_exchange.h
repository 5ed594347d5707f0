// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers that the warps of a cluster tell one another, a pair of each warp a round: a warp sends
// its pair to every block, and takes the pairs of all warps, in the same order everywhere. A round
// costs one journey from block to block and no barrier. A barrier of the cluster, or a remote
// arrival that releases, is a fence of the whole GPU (MEMBAR.ALL.GPU in machine code of sm_90):
// each thread would first wait for what it stores to global memory.
//
// Architecture 9.0 and above. A kernel that uses it on less traps.
#pragma once

#include "instructions/cluster.h"
#include "instructions/mbarrier.h"
#include "instructions/st_async.h"
#include "primitives/warp.h"

#include <cstddef>
#include <cstdint>

namespace kg {

// Each warp sends, then receives, round after round. The pairs of a round lie in one of two places
// in turn. A warp sends those of a round when it has received those of the round before, of which
// every warp sent its own when it had read those before that: nobody overwrites what is still read.
class ClusterExchange {
 public:
  // Of dynamic shared memory, which other blocks can reach, for blocks of so many threads.
  static constexpr std::size_t bytes(int blocks, int threads) {
    return 2 * sizeof(std::uint64_t) + 2 * sizeof(float2) * blocks * (threads / kLanes);
  }

  // memory: bytes(blocks, blockDim.x) bytes, aligned to 8, in the same place in every block.
  // blocks: of the cluster, at most 32. All threads of the cluster construct theirs together.
  __device__ __forceinline__ ClusterExchange(void* memory, unsigned blocks)
      : arrived_(static_cast<std::uint64_t*>(memory)),
        of_warps_(reinterpret_cast<float2*>(arrived_ + 2)), blocks_(blocks),
        all_(blocks * (blockDim.x / kLanes)) {
    if (threadIdx.x < 2) ptx::mbarrier_init(&arrived_[threadIdx.x], 1);
    ptx::cluster_sync(); // nobody sends before
  }

  // The warp's pair, which all of its lanes have.
  __device__ __forceinline__ void send(float2 of_warp) {
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned warp = (ptx::cluster_rank() * blockDim.x + threadIdx.x) / kLanes;
    if (threadIdx.x == 0)
      ptx::mbarrier_arrive_expect_tx(&arrived_[round_ % 2],
                                     all_ * static_cast<unsigned>(sizeof(float2)));
    if (lane < blocks_)
      ptx::st_async(&of_warps_[round_ % 2 * all_ + warp], of_warp, &arrived_[round_ % 2], lane);
  }

  // take(float2) of the round that was sent last: a lane is given every 32nd warp's pair.
  template <class Take>
  __device__ __forceinline__ void receive(const Take& take) {
    const unsigned place = round_ % 2;
    ptx::mbarrier_wait_parity(&arrived_[place], round_ / 2 % 2);
    ++round_;
    for (unsigned warp = threadIdx.x % kLanes; warp < all_; warp += kLanes)
      take(of_warps_[place * all_ + warp]);
    __syncwarp(); // all lanes have read what the next round but one takes the place of
  }

 private:
  std::uint64_t* arrived_;
  float2* of_warps_;
  unsigned blocks_, all_; // all: warps
  unsigned round_ = 0;
};

} // namespace kg
