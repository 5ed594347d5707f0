// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm and layernorm of long rows with a cluster of blocks per row (primitives/cluster_row.h):
// one read and one write per element, the row in the blocks' shared memory as it is stored.
//
// Centring needs the mean of the whole row, so layernorm's blocks exchange two sums one after the
// other, three barriers of the cluster with the one at the end. Why not each block's own mean and
// squares, exchanged once and put together (Chan, Golub and LeVeque, 1979): another rounding for a
// barrier, which other blocks of the multiprocessor hide. Expected on an H200: 88 to 90 % of a
// copy's rate from 16,384 columns on.
#pragma once

#include "normalization/forward_kernels.h"
#include "primitives/cluster_row.h"

namespace kg::normalization {

// The slice of a block, as a part (row_parts.h).
template <class T, int Count>
class ClusterPart {
 public:
  static constexpr int kCount = Count;

  __device__ ClusterPart(const T* row, std::int64_t cols, std::int64_t slice)
      : row_(row), cols_(cols),
        slice_(dynamic_shared<float>() + kClusterScratchFloats, slice, cols) {}

  __device__ void arrive() {
    slice_.read(
        [&](std::int64_t pack, std::int64_t end) { return load_stored<T, Count>(row_, pack, end); },
        [](const StoredPack<T, Count>& stored) { return stored; },
        [](std::int64_t, const Floats<Count>&) {});
  }

  __device__ void add(const T* other, T* sum) {
    slice_.read(
        [&](std::int64_t pack, std::int64_t end) {
          return Two{load_stored<T, Count>(row_, pack, end),
                     load_stored<T, Count>(other, pack, end)};
        },
        [](const Two& stored) { return stored.sum(); },
        [&](std::int64_t pack, const Floats<Count>& values) {
          store_pack<T, Count, Store::streamed>(sum, pack, cols_, values);
        });
  }

  template <class Use>
  __device__ void each(Use use) const {
    slice_.each(use);
  }

  template <class Load, class Change>
  __device__ void store(T* to, Load load, Change change) const {
    slice_.template each_beside<kPacksTogether<T, Count>>(
        load, [&](std::int64_t pack, Floats<Count> values, const auto& with) {
          change(values, with);
          store_pack<T, Count, Store::streamed>(to, pack, cols_, values);
        });
  }

 private:
  struct Two {
    StoredPack<T, Count> one, other;

    __device__ __forceinline__ void keep_raw() {
      one.keep_raw();
      other.keep_raw();
    }
    __device__ __forceinline__ StoredPack<T, Count> sum() const {
      const Floats<Count> a = widened(one), b = widened(other);
      Pack<T, Count> rounded;
      KG_UNROLL
      for (int e = 0; e < Count; ++e) rounded.element[e] = from_float<T>(a.value[e] + b.value[e]);
      StoredPack<T, Count> result;
      result.set(rounded);
      return result;
    }
  };

  const T* row_;
  std::int64_t cols_;
  ClusterSlice<T, Count> slice_;
};

// `arrive` makes the part ready.
template <Kind kind, class T, int Count, class Arrive>
__device__ void cluster_normalize(const Forward<T>& f, unsigned blocks, std::int64_t slice,
                                  Arrive arrive) {
  const std::int64_t row = blockIdx.x / blocks;
  ClusterPart<T, Count> part(f.x + row * f.x_stride, f.cols, slice);
  arrive(part, row);
  normalize<kind>(f, row, part, threadIdx.x == 0 && ptx::cluster_rank() == 0,
                  ClusterSum(dynamic_shared<float>(), blocks));
  ptx::cluster_sync(); // the others have read
}

template <Kind kind, class T, int Count>
__global__ void __launch_bounds__(kClusterThreads)
    cluster_per_row(Forward<T> f, unsigned blocks, std::int64_t slice) {
  cluster_normalize<kind, T, Count>(f, blocks, slice,
                                    [](auto& part, std::int64_t) { part.arrive(); });
}

} // namespace kg::normalization
