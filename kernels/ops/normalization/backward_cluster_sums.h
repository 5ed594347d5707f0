// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of a row over the blocks of a cluster (primitives/cluster_exchange.h).
#pragma once

#include "ops/normalization/backward_row.h"
#include "primitives/cluster_exchange.h"
#include "primitives/cluster_shape.h"

namespace kg::normalization::backward {

template <Kind kind>
class ClusterSums : private ClusterExchange {
 public:
  using ClusterExchange::bytes;
  using ClusterExchange::ClusterExchange;

  __device__ __forceinline__ void send(RowSums own) {
    own = WarpSums<kind>()(own);
    ClusterExchange::send(make_float2(own.g, own.gn));
  }
  // The sums of the row that was sent last.
  __device__ __forceinline__ RowSums receive() {
    RowSums sums = {0, 0};
    ClusterExchange::receive([&](float2 of_warp) {
      sums.g += of_warp.x;
      sums.gn += of_warp.y;
    });
    return WarpSums<kind>()(sums);
  }
};

} // namespace kg::normalization::backward
