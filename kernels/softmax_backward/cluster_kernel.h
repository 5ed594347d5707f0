// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of long rows with a cluster of blocks per row (primitives/cluster_row.h): two reads and
// one write per element, y and dy in the blocks' shared memory as they are stored, a slice of each.
// Expected on an H200: 88 to 90 % of a copy's rate from 16,384 columns on.
#pragma once

#include "primitives/cluster_row.h"
#include "softmax_backward/gradient.h"

namespace kg::softmax_backward {

template <Kind kind, class T, int Count>
__global__ void __launch_bounds__(kClusterThreads)
    cluster_per_row(const T* y, std::int64_t y_stride, const T* dy, std::int64_t dy_stride, T* dx,
                    std::int64_t dx_stride, std::int64_t cols, unsigned blocks,
                    std::int64_t slice) {
  float* const scratch = dynamic_shared<float>();
  auto* const memory = reinterpret_cast<StoredPack<T, Count>*>(scratch + kClusterScratchFloats);
  ClusterSlice<T, Count> held_y(memory, slice, cols);
  ClusterSlice<T, Count> held_dy(memory + slice, slice, cols);
  const std::int64_t row = blockIdx.x / blocks;
  const auto of = [&](const T* matrix, std::int64_t stride) {
    return [=](std::int64_t pack, std::int64_t end) {
      return load_stored<T, Count>(matrix + row * stride, pack, end);
    };
  };
  const auto all = [](const StoredPack<T, Count>& stored) { return stored; };

  held_y.read(of(y, y_stride), all, [](std::int64_t, const Floats<Count>&) {});
  float sum = 0;
  held_dy.read(of(dy, dy_stride), all, [&](std::int64_t pack, const Floats<Count>& values) {
    sum = sum_of_terms<kind>(held_y.at(pack), values, sum);
  });
  sum = ClusterSum(scratch, blocks)(sum);

  held_dy.each([&](std::int64_t pack, const Floats<Count>& values) {
    store_pack<T, Count>(dx + row * dx_stride, pack, cols,
                         gradients<kind>(held_y.at(pack), values, sum));
  });
  ptx::cluster_sync(); // the others have read
}

} // namespace kg::softmax_backward
