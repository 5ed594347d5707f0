// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The second step of gather.h for averages of 3x3 at stride 1, by pooling's own kernels. dx is the
// sum of the shares of the windows over it, which are neighbours in dy just as an output's elements
// are in x. A thread divides each dy once and adds each row or column of shares once for all
// elements of dx that use it.
//
// Arithmetic, for 16-bit elements, in addition to pooling's (ops/pooling/pack_windows.h,
// ops/pooling/row_windows.h): a product per dy. The tiles of tiles.h take one multiply-add per pair
// of window and element. They had 78 % of copy bandwidth on an H200 in nhwc, and 54 % in nchw,
// where they load single elements (bf16).
#pragma once

#include "ops/pooling/pack_windows.h"
#include "ops/pooling/row_windows.h"
#include "ops/pooling_backward/tiles.h"

namespace kg::pooling_backward {

// A Reduce of ops/pooling/reduce.h. Its counted lines are those of the average, shifted so that the
// taps counted from coordinate i of dy on are those of window i.
template <class T, int kKernel>
struct Shares {
  static constexpr bool kShares = true;
  static constexpr float kIdentity = 0;
  __device__ static float first(float value) { return kIdentity + value; } // turns -0 into +0
  __device__ static float combine(float sum, float value) { return sum + value; }

  // 16-bit types multiply, as in tiles.h; __fmul_rn keeps nvcc from fusing some into multiply-adds.
  __device__ static float share(float value, const WholeDivisor& taps) {
    return sizeof(T) < sizeof(float) ? __fmul_rn(value, taps.reciprocal) : taps.quotient(value);
  }
  template <int Count>
  __device__ static Floats<Count> shared(Floats<Count> values, int down, int across) {
    const WholeDivisor taps = product(counted<kKernel>(down), counted<kKernel>(across));
    KG_UNROLL
    for (int e = 0; e < Count; ++e) values.value[e] = share(values.value[e], taps);
    return values;
  }
  // For a pack of a row and one element on each side. Only the pack's first and last elements may
  // be incomplete windows; the elements beside it never are.
  template <int Count>
  __device__ static Floats<Count> shared_row(Floats<Count> values, int down, int of_first,
                                             int of_last) {
    const WholeDivisor of_row = counted<kKernel>(down);
    const WholeDivisor first = product(of_row, counted<kKernel>(of_first));
    const WholeDivisor middle = product(of_row, counted<kKernel>(kKernel));
    const WholeDivisor last = product(of_row, counted<kKernel>(of_last));
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      values.value[e] = share(values.value[e], e == 1 ? first : e == Count - 2 ? last : middle);
    return values;
  }

  struct Finish {
    template <class Whole>
    __device__ explicit Finish(Whole) {}
    __device__ float operator()(float sum) const { return sum; }
  };
};

} // namespace kg::pooling_backward
