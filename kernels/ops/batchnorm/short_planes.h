// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums over the channels of nchw where planes are short (has_short_planes): the kernels of
// columns.h take images as rows of channels x spatial columns, and a second launch joins each
// channel's columns. Why not plane by plane: a plane of 7 x 7 elements of 16 bits touches seven
// packs and shares one or two of them with its neighbours, so every warp takes some element by
// element, and of images of 2,048 channels a block has 98 bytes in every 200 KB. Training so took
// 411 us on an H200 where nhwc, the same bytes, took 240.
#pragma once

#include "ops/batchnorm/variants.h"
#include "primitives/warp.h"

#include <cstdint>

namespace kg::batchnorm {

// Walks the block through the columns of a plane in all parts: use(part, place) for those of the
// thread. Warps share the parts, a warp's lanes the plane.
template <class Use>
__device__ __forceinline__ void each_of_plane(std::int64_t parts, std::int64_t spatial, Use use) {
  const unsigned warps = blockDim.x / kLanes;
  for (std::int64_t part = threadIdx.x / kLanes; part < parts; part += warps)
    for (std::int64_t place = threadIdx.x % kLanes; place < spatial; place += kLanes)
      use(part, place);
}

} // namespace kg::batchnorm
