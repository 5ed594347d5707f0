// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of long rows with a cluster of blocks per row (primitives/cluster_row.h): two reads and
// one write per element. Each block holds its slice of y and dy in shared memory in the stored
// type. Of dy it holds as much as fits beside y; the rest is read again, a quarter of 262,144
// columns of f32 on an H200. Expected there: 88 to 90 % of copy bandwidth from 16,384 columns on.
#pragma once

#include "ops/softmax_backward/gradient.h"
#include "primitives/cluster_row.h"

namespace kg::softmax_backward {

// All: whether all of dy is held, always so for 16-bit types; otherwise `held` packs of a slice.
template <Kind kind, class T, int Count, bool All>
__global__ void __launch_bounds__(kClusterThreads)
    cluster_per_row(const T* y, std::int64_t y_stride, const T* dy, std::int64_t dy_stride, T* dx,
                    std::int64_t dx_stride, std::int64_t cols, unsigned blocks, std::int64_t slice,
                    std::int64_t held) {
  float* const scratch = dynamic_shared<float>();
  auto* const memory = reinterpret_cast<StoredPack<T, Count>*>(scratch + kClusterScratchFloats);
  ClusterSlice<T, Count> held_y(memory, slice, cols);
  ClusterSlice<T, Count> held_dy(memory + slice, slice, cols, All ? slice : held);
  const std::int64_t row = blockIdx.x / blocks;
  const auto of = [&](const T* matrix, std::int64_t stride) {
    return [=](std::int64_t pack, std::int64_t end) {
      return load_stored<T, Count>(matrix + row * stride, pack, end);
    };
  };
  const auto all = [](const StoredPack<T, Count>& stored) { return stored; };

  held_y.read(of(y, y_stride), all, [](std::int64_t, const Floats<Count>&) {});
  float sum = 0;
  const auto add = [&](std::int64_t pack, const Floats<Count>& values) {
    sum = sum_of_terms<kind>(held_y.at(pack), values, sum);
  };
  held_dy.read(of(dy, dy_stride), all, add);
  if constexpr (!All) held_dy.rest(of(dy, dy_stride), add);
  sum = ClusterSum(scratch, blocks)(sum);

  const auto store = [&](std::int64_t pack, const Floats<Count>& values) {
    store_pack<T, Count>(dx + row * dx_stride, pack, cols,
                         gradients<kind>(held_y.at(pack), values, sum));
  };
  held_dy.each(store);
  if constexpr (!All) held_dy.rest(of(dy, dy_stride), store);
  ptx::cluster_sync(); // the other blocks have read
}

} // namespace kg::softmax_backward
