// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The second step of gather.h for averages of 3x3 at stride 1, by pooling's own kernels: dx is the
// sum of what the windows over it hand on, which are neighbours in dy as an output's elements are
// in x. Each dy is divided once in a thread, and rows or columns of shares are added once for all
// elements of dx that have them.
//
// Arithmetic, of 16-bit elements, beside pooling's (ops/pooling/pack_windows.h,
// ops/pooling/row_windows.h): a product for each dy. The tiles of tiles.h, which take one
// multiply-add for each pair of a window and an element, had 78 % of a copy's rate on an H200 in
// nhwc, 54 % in nchw, where they load single elements (bf16).
#pragma once

#include "ops/pooling/pack_windows.h"
#include "ops/pooling/row_windows.h"
#include "ops/pooling_backward/tiles.h"

namespace kg::pooling_backward {

// A Reduce of ops/pooling/reduce.h. The counted lines of its windows are an average's own, moved so
// that the taps from coordinate i of dy on are those of window i.
template <class T, int kKernel>
struct Shares {
  static constexpr bool kShares = true;
  static constexpr float kIdentity = 0;
  __device__ static float first(float value) { return kIdentity + value; } // of -0 it is +0
  __device__ static float combine(float sum, float value) { return sum + value; }

  // Of 16-bit types products, as in tiles.h; rounded, for nvcc not to make multiply-adds of some.
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
  // Of neighbours in a row that begin and end with an element beside a pack: of the pack only the
  // first and the last one may be windows that are not whole, and those beside it never are.
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
