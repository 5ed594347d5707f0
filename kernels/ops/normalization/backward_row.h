// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One row of the gradients of rmsnorm and layernorm. With n = (x - mean) rstd and g = dy gamma:
// dx = rstd (g - mean of g - n (mean of g n)), for rmsnorm with mean = 0 and without the mean of g.
#pragma once

#include "ops/normalization/backward_variants.h"
#include "ops/normalization/row_parts.h"
#include "primitives/block.h"

namespace kg::normalization::backward {

// gamma, dgamma, dbeta and partials may be null: gamma then counts as ones; the others are omitted.
// Kind::rms has no mean and no dbeta. partials: the vectors of each part (primitives/partials.h).
template <class T>
struct Backward {
  const T* dy;
  std::int64_t dy_stride;
  const T* x;
  std::int64_t x_stride;
  const T* gamma;
  const float* mean;
  const float* rstd;
  T* dx;
  std::int64_t dx_stride;
  T* dgamma;
  T* dbeta;
  float* partials;
  std::int64_t rows;
  std::int64_t cols;
  float reciprocal; // 1 / cols
};

struct Statistics {
  float mean;
  float rstd;
};

template <Kind kind, class T>
__device__ __forceinline__ Statistics statistics(const Backward<T>& f, std::int64_t row) {
  return {kind == Kind::layer ? f.mean[row] : 0.0f, f.rstd[row]};
}

// Sums of g and of g n.
struct RowSums {
  float g;
  float gn;
};

// n
template <int Count>
__device__ __forceinline__ Floats<Count> normalized(const Floats<Count>& x, Statistics s) {
  Floats<Count> n;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) n.value[e] = (x.value[e] - s.mean) * s.rstd;
  return n;
}

// Sets elements past the row's end to 0, where (0 - mean) rstd may overflow.
template <int Count>
__device__ __forceinline__ void cut(Floats<Count>& n, int in_row) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    if (e >= in_row) n.value[e] = 0;
}

// g
template <int Count>
__device__ __forceinline__ Floats<Count> weighted(Floats<Count> dy, const Floats<Count>& gamma) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) dy.value[e] *= gamma.value[e];
  return dy;
}

template <int Count>
__device__ inline void add_to_row(RowSums& sums, const Floats<Count>& g, const Floats<Count>& n) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) {
    sums.g += g.value[e];
    sums.gn += g.value[e] * n.value[e];
  }
}

template <int Count>
__device__ inline void add_to_columns(Floats<Count>& dgamma, Floats<Count>& dbeta,
                                      const Floats<Count>& dy, const Floats<Count>& n) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) {
    dgamma.value[e] += dy.value[e] * n.value[e];
    dbeta.value[e] += dy.value[e];
  }
}

// The means, from the sums and 1 / cols.
template <Kind kind>
__device__ __forceinline__ RowSums means(RowSums sums, float reciprocal) {
  return {kind == Kind::layer ? sums.g * reciprocal : 0.0f, sums.gn * reciprocal};
}

// dx
template <int Count>
__device__ __forceinline__ Floats<Count> gradients(const Floats<Count>& g, const Floats<Count>& n,
                                                   float rstd, RowSums mean) {
  Floats<Count> dx;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) dx.value[e] = rstd * (g.value[e] - mean.g - n.value[e] * mean.gn);
  return dx;
}

template <Kind kind>
struct WarpSums {
  __device__ __forceinline__ RowSums operator()(RowSums own) const {
    if constexpr (kind == Kind::layer) own.g = warp_sum(own.g);
    own.gn = warp_sum(own.gn);
    return own;
  }
};

// Adds the sums stored by a block's warps, in every lane.
template <Kind kind>
__device__ __forceinline__ RowSums sums_of_warps(const RowSums* left) {
  const unsigned lane = threadIdx.x % kLanes;
  return WarpSums<kind>()(lane < blockDim.x / kLanes ? left[lane] : RowSums{0, 0});
}

// Block-wide sums, row after row with one barrier each. Two halves of the scratch alternate: a warp
// rewrites a half only after the barrier that follows all reads of that half.
inline constexpr int kScratchSums = 2 * kMostThreads / kLanes;

template <Kind kind>
class BlockSums {
 public:
  __device__ explicit BlockSums(RowSums* scratch) : scratch_(scratch) {}

  __device__ __forceinline__ RowSums operator()(RowSums own) {
    own = WarpSums<kind>()(own);
    RowSums* const sums = scratch_ + half_ * (kScratchSums / 2);
    half_ = 1 - half_;
    if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = own;
    __syncthreads();
    return sums_of_warps<kind>(sums);
  }

 private:
  RowSums* scratch_;
  int half_ = 0;
};

} // namespace kg::normalization::backward
