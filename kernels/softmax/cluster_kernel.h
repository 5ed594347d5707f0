// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax of long rows with a cluster of blocks per row (primitives/cluster_row.h): one read and
// one write per element, the row in the blocks' shared memory as it is stored.
//
// Each block finds its slice's largest element and the sum of exponentials relative to it, and the
// blocks exchange these two numbers once: two barriers of the cluster, the second of which only
// keeps a block's memory until the others have read it. The exponential is taken twice, of x
// relative to the slice's maximum and to the row's: 16 of the 27 clocks of its pipe that a 16-bit
// element's share of a copy's time has on an H200; keeping the first one would round it to T.
// Expected there: 88 to 90 % of a copy's rate from 16,384 columns on, as long as two blocks share a
// multiprocessor (slices up to 64 KiB: 131,072 columns of f32, 262,144 in 16 bits); with slices of
// 128 KiB nobody loads while a block computes.
#pragma once

#include "primitives/block.h"
#include "primitives/cluster_row.h"
#include "softmax/row_access.h"

#include <cfloat>

namespace kg::softmax {

template <Kind kind, class T, int Count>
__global__ void __launch_bounds__(kClusterThreads)
    cluster_per_row(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride,
                    std::int64_t cols, unsigned blocks, std::int64_t slice) {
  float* const scratch = dynamic_shared<float>();
  float* const exchanged = scratch + 2 * kMaxWarps;
  ClusterSlice<T, Count> held(scratch + kClusterScratchFloats, slice, cols);
  const std::int64_t row = blockIdx.x / blocks;
  const T* const from = x + row * x_stride;

  float maximum = kPadding; // fmaxf passes over NaN; the sum does not
  held.read([&](std::int64_t pack, std::int64_t end) { return load<T, Count>(from, pack, end); },
            [](const StoredPack<T, Count>& stored) { return stored; },
            [&](std::int64_t, const Floats<Count>& values) { maximum = largest(values, maximum); });
  maximum = block_max(maximum, scratch);

  const float reference = fmaxf(maximum, -FLT_MAX); // finite: -inf minus it is -inf
  float sum = 0;
  held.each([&](std::int64_t, const Floats<Count>& values) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) sum += expf(values.value[e] - reference);
  });
  sum = block_sum(sum, scratch + kMaxWarps);
  if (threadIdx.x == 0) {
    exchanged[0] = maximum;
    exchanged[1] = sum;
  }

  ptx::cluster_sync();
  const float of_block = of_blocks(exchanged, blocks, kPadding);
  sum = of_blocks(exchanged + 1, blocks, 0);
  maximum = warp_max(of_block);
  // In a row of nothing but -inf this is 0 times inf: NaN, as it must be.
  sum = warp_sum(sum * expf(fmaxf(of_block, -FLT_MAX) - maximum));
  const float by = normalizer<kind>(sum);
  ptx::cluster_sync(); // the others have read

  T* const to = y + row * y_stride;
  held.each([&](std::int64_t pack, Floats<Count> values) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      values.value[e] = normalized<kind>(kept<kind>(values.value[e] - maximum), by);
    store_pack<T, Count>(to, pack, cols, values);
  });
}

} // namespace kg::softmax
