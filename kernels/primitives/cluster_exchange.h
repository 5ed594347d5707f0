// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exchange of numbers among the warps of a cluster. In each round a warp sends a pair to every
// block and receives the pairs of all warps, in the same order everywhere. A round costs one
// block-to-block latency and no barrier. A cluster barrier, or a remote arrival with release
// semantics, includes a fence of the whole GPU (MEMBAR.ALL.GPU in machine code of sm_90). Each
// thread would then wait for its own stores to global memory.
//
// Architecture 9.0 and above. A kernel that uses it on older architectures traps.
#pragma once

#include "instructions/cluster.h"
#include "instructions/mbarrier.h"
#include "instructions/st_async.h"
#include "primitives/warp.h"

#include <cstddef>
#include <cstdint>

namespace kg {

// In each round a warp sends, then receives. Two buffers alternate. A warp sends round r after it
// has received round r-1 from all warps. Each of them sent round r-1 after it had read round r-2,
// so the buffer of round r-2 is free.
class ClusterExchange {
 public:
  // Bytes of dynamic shared memory, which other blocks can access, for blocks of `threads` threads.
  static constexpr std::size_t bytes(int blocks, int threads) {
    return 2 * sizeof(std::uint64_t) + 2 * sizeof(float2) * blocks * (threads / kLanes);
  }

  // memory: bytes(blocks, blockDim.x) bytes, aligned to 8, at the same offset in every block.
  // blocks: of the cluster, at most 32. All threads of the cluster must construct it together.
  __device__ __forceinline__ ClusterExchange(void* memory, unsigned blocks)
      : arrived_(static_cast<std::uint64_t*>(memory)),
        of_warps_(reinterpret_cast<float2*>(arrived_ + 2)), blocks_(blocks),
        all_(blocks * (blockDim.x / kLanes)) {
    if (threadIdx.x < 2) ptx::mbarrier_init(&arrived_[threadIdx.x], 1);
    ptx::cluster_sync(); // no block sends earlier
  }

  // Sends the warp's pair. All lanes pass the same value.
  __device__ __forceinline__ void send(float2 of_warp) {
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned warp = (ptx::cluster_rank() * blockDim.x + threadIdx.x) / kLanes;
    if (threadIdx.x == 0)
      ptx::mbarrier_arrive_expect_tx(&arrived_[round_ % 2],
                                     all_ * static_cast<unsigned>(sizeof(float2)));
    if (lane < blocks_)
      ptx::st_async(&of_warps_[round_ % 2 * all_ + warp], of_warp, &arrived_[round_ % 2], lane);
  }

  // Calls take(float2) for the pairs of the round sent last: each lane gets every 32nd warp's.
  template <class Take>
  __device__ __forceinline__ void receive(const Take& take) {
    const unsigned place = round_ % 2;
    ptx::mbarrier_wait_parity(&arrived_[place], round_ / 2 % 2);
    ++round_;
    for (unsigned warp = threadIdx.x % kLanes; warp < all_; warp += kLanes)
      take(of_warps_[place * all_ + warp]);
    __syncwarp(); // all lanes have read: the round after next overwrites these pairs
  }

 private:
  std::uint64_t* arrived_;
  float2* of_warps_;
  unsigned blocks_, all_; // all_: warps
  unsigned round_ = 0;
};

} // namespace kg
