// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A row's sums over the blocks of a cluster: each warp sends its two numbers to all of them, and
// each warp adds what came of all warps, in the same order everywhere. So a row costs one journey
// from block to block, no barrier within a block, and no barrier of the cluster: that releases, so
// each thread would first wait for the packs that it has under way.
#pragma once

#include "instructions/cluster.h"
#include "instructions/mbarrier.h"
#include "instructions/st_async.h"
#include "ops/normalization/backward_row.h"
#include "primitives/cluster_shape.h"

#include <cstddef>
#include <cstdint>

namespace kg::normalization::backward {

// In dynamic shared memory, which other blocks can reach. What comes of a row lies in one of two
// places in turn. A warp sends its sums of a row when it has received those of the row before, of
// which every warp sent its own when it had read those before that: nobody overwrites what somebody
// still reads.
template <Kind kind>
class ClusterSums {
 public:
  static constexpr std::size_t bytes(int blocks, int threads) {
    return 2 * sizeof(std::uint64_t) + 2 * sizeof(float2) * blocks * (threads / kLanes);
  }

  __device__ ClusterSums(void* memory, unsigned blocks)
      : arrived_(static_cast<std::uint64_t*>(memory)),
        of_warps_(reinterpret_cast<float2*>(arrived_ + 2)), blocks_(blocks),
        all_(blocks * (blockDim.x / kLanes)) {
    if (threadIdx.x < 2) ptx::mbarrier_init(&arrived_[threadIdx.x], 1);
    ptx::cluster_sync(); // nobody sends before
  }

  __device__ __forceinline__ void send(RowSums own) {
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned warp = (ptx::cluster_rank() * blockDim.x + threadIdx.x) / kLanes;
    own = WarpSums<kind>()(own);
    if (threadIdx.x == 0)
      ptx::mbarrier_arrive_expect_tx(&arrived_[row_ % 2],
                                     all_ * static_cast<unsigned>(sizeof(float2)));
    if (lane < blocks_)
      ptx::st_async(&of_warps_[row_ % 2 * all_ + warp], make_float2(own.g, own.gn),
                    &arrived_[row_ % 2], lane);
  }
  // Of the row whose sums were sent last.
  __device__ __forceinline__ RowSums receive() {
    const unsigned place = row_ % 2;
    ptx::mbarrier_wait_parity(&arrived_[place], row_ / 2 % 2);
    ++row_;
    RowSums sums = {0, 0};
    for (unsigned warp = threadIdx.x % kLanes; warp < all_; warp += kLanes) {
      const float2 one = of_warps_[place * all_ + warp];
      sums.g += one.x;
      sums.gn += one.y;
    }
    __syncwarp(); // all lanes have read what the next row but one takes the place of
    return WarpSums<kind>()(sums);
  }

 private:
  std::uint64_t* arrived_;
  float2* of_warps_;
  unsigned blocks_, all_; // all: warps
  unsigned row_ = 0;
};

} // namespace kg::normalization::backward
