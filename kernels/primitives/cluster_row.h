// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Long rows, one per cluster of blocks. Each block keeps its slice in shared memory in the stored
// type, so global memory is read once, and the blocks exchange their partial results.
#pragma once

#include "instructions/cluster.h"
#include "primitives/block.h"
#include "primitives/cluster_shape.h"
#include "primitives/stored_pack.h"
#include "primitives/warp.h"

#include <cstdint>

namespace kg {

// Packs that a thread loads before it uses the first one; more if a pack is a single element.
template <int Count>
inline constexpr int kClusterInFlight = Count == 1 ? 8 : 4;

// A block's slice of the row: packs [begin, end), the first `held` of them in shared memory. A
// thread reads only what it wrote, so no barrier is needed.
template <class T, int Count>
class ClusterSlice {
 public:
  __device__ ClusterSlice(void* memory, std::int64_t slice, std::int64_t cols)
      : ClusterSlice(memory, slice, cols, slice) {}
  __device__ ClusterSlice(void* memory, std::int64_t slice, std::int64_t cols, std::int64_t held)
      : memory_(static_cast<StoredPack<T, Count>*>(memory)) {
    const std::int64_t packs = (cols + Count - 1) / Count;
    begin_ = ptx::cluster_rank() * slice;
    end_ = begin_ + slice < packs ? begin_ + slice : packs;
    held_ = begin_ + held < end_ ? begin_ + held : end_;
    last_ = end_ * Count < cols ? end_ * Count : cols;
  }

  // Loads the held packs, several at a time. load(pack, end of the slice in elements) returns a
  // stored pack, padded beyond that end; keep(stored) returns what stays in shared memory;
  // use(pack number, values) receives each.
  template <class Load, class Keep, class Use>
  __device__ __forceinline__ void read(Load load, Keep keep, Use use) {
    visit(begin_, held_, load, [&](std::int64_t pack, const decltype(load(0, 0))& stored) {
      const StoredPack<T, Count> stays = keep(stored);
      memory_[pack - begin_] = stays;
      use(pack, widened(stays));
    });
  }

  // The same for the packs that are not held, from global memory each time.
  template <class Load, class Use>
  __device__ __forceinline__ void rest(Load load, Use use) const {
    visit(held_, end_, load, [&](std::int64_t pack, const StoredPack<T, Count>& stored) {
      use(pack, widened(stored));
    });
  }

  // One of this thread's packs.
  __device__ __forceinline__ Floats<Count> at(std::int64_t pack) const {
    return widened(StoredPack<T, Count>(memory_[pack - begin_]));
  }

  // Calls use(pack number, values) for each held pack of this thread.
  template <class Use>
  __device__ __forceinline__ void each(Use use) const {
    for (std::int64_t pack = begin_ + threadIdx.x; pack < held_; pack += blockDim.x)
      use(pack, at(pack));
  }

  // Calls use(pack number, values, load(pack number)), with Packs loads in flight.
  template <int Packs, class Load, class Use>
  __device__ __forceinline__ void each_beside(Load load, Use use) const {
    const auto threads = static_cast<std::int64_t>(blockDim.x);
    for (std::int64_t first = begin_ + threadIdx.x; first < held_; first += Packs * threads) {
      decltype(load(0)) beside[Packs];
      KG_UNROLL
      for (int p = 0; p < Packs; ++p)
        if (first + p * threads < held_) beside[p] = load(first + p * threads);
      loaded(beside);
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) {
        const std::int64_t pack = first + p * threads;
        if (pack < held_) use(pack, at(pack), beside[p]);
      }
    }
  }

 private:
  // Calls use(pack number, stored pack) for this thread's packs in [begin, end).
  template <class Load, class Use>
  __device__ __forceinline__ void visit(std::int64_t begin, std::int64_t end, Load load,
                                        Use use) const {
    constexpr int kInFlight = kClusterInFlight<Count>;
    const auto threads = static_cast<std::int64_t>(blockDim.x);
    for (std::int64_t first = begin + threadIdx.x; first < end; first += kInFlight * threads) {
      decltype(load(0, 0)) stored[kInFlight];
      KG_UNROLL
      for (int p = 0; p < kInFlight; ++p) stored[p] = load(first + p * threads, last_);
      loaded(stored);
      KG_UNROLL
      for (int p = 0; p < kInFlight; ++p) {
        if (first + p * threads >= end) break;
        use(first + p * threads, stored[p]);
      }
    }
  }

  StoredPack<T, Count>* memory_;
  std::int64_t begin_, held_, end_, last_;
};

// Each block has stored its number at `mine` in dynamic shared memory before a cluster_sync(). Lane
// r of each warp receives the number of block r; lanes beyond the last block receive `rest`.
__device__ __forceinline__ float of_blocks(const float* mine, unsigned blocks, float rest) {
  const unsigned lane = threadIdx.x % kLanes;
  return lane < blocks ? ptx::load_from_block(mine, lane) : rest;
}

// At most two sums over the cluster, in `scratch` (kClusterScratch bytes). After the last one a
// block must pass a cluster_sync() before it exits, since other blocks may still read its shared
// memory.
class ClusterSum {
 public:
  __device__ ClusterSum(float* scratch, unsigned blocks)
      : of_warps_(scratch), of_block_(scratch + 2 * kMaxWarps), blocks_(blocks) {}

  __device__ float operator()(float value) {
    value = block_sum(value, of_warps_);
    if (threadIdx.x == 0) *of_block_ = value;
    ptx::cluster_sync();
    value = warp_sum(of_blocks(of_block_, blocks_, 0));
    ++of_block_;
    return value;
  }

 private:
  float* of_warps_;
  float* of_block_;
  unsigned blocks_;
};

} // namespace kg
