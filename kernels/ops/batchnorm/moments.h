// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Mean and centred squares of a set of numbers, and their combination for two sets: Chan, Golub and
// LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979. Only
// centred values are squared, so a mean far from 0 costs the variance no digits.
#pragma once

#include "primitives/block.h"

namespace kg::batchnorm {

struct Moments {
  float count;
  float mean;
  float squares; // sum of (x - mean)^2
};

// Coefficients for combining two sets, from their sizes.
struct Joint {
  float count;
  float share;  // of the second set
  float weight; // of the squared difference of the means
};

__device__ __forceinline__ Joint joint(float first, float second) {
  const float count = first + second;
  const float share = count > 0 ? second / count : 0.0f;
  return {count, share, first * share};
}

// If a set is empty, the difference of the means is meaningless, and its square may be infinite.
__device__ __forceinline__ void join(const Joint& sizes, float& mean, float& squares,
                                     float other_mean, float other_squares) {
  const float apart = other_mean - mean;
  mean += apart * sizes.share;
  squares += other_squares + (sizes.weight > 0 ? apart * apart * sizes.weight : 0.0f);
}

__device__ __forceinline__ Moments joined(const Moments& first, const Moments& second) {
  const Joint sizes = joint(first.count, second.count);
  Moments both = {sizes.count, first.mean, first.squares};
  join(sizes, both.mean, both.squares, second.mean, second.squares);
  return both;
}

// Combines a warp's lanes, lower ones first, so that all get the same bits. All lanes must call.
__device__ __forceinline__ Moments warp_joined(Moments own) {
  KG_UNROLL
  for (int step = 1; step < kLanes; step *= 2) {
    const Moments other = {__shfl_xor_sync(kAllLanes, own.count, step),
                           __shfl_xor_sync(kAllLanes, own.mean, step),
                           __shfl_xor_sync(kAllLanes, own.squares, step)};
    own = threadIdx.x & static_cast<unsigned>(step) ? joined(other, own) : joined(own, other);
  }
  return own;
}

// Combines a block's threads; the result is valid in the first warp. `scratch` holds one entry per
// warp. All threads must call this, once.
__device__ __forceinline__ Moments block_joined(Moments own, Moments* scratch) {
  own = warp_joined(own);
  if (threadIdx.x % kLanes == 0) scratch[threadIdx.x / kLanes] = own;
  __syncthreads();
  Moments all = scratch[0];
  for (unsigned w = 1; w < blockDim.x / kLanes; ++w) all = joined(all, scratch[w]);
  return all;
}

} // namespace kg::batchnorm
