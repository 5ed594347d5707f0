// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Long rows, one to a cluster of blocks: each block keeps its slice in shared memory as it is
// stored, so that memory is read once, and the blocks tell each other what they made of theirs.
//
// A slice of 32 KiB or less is loaded at once, four packs a thread, and as many blocks as the
// registers permit share a multiprocessor, so that one row's loads overlap another's arithmetic.
// Rows beyond 8 such slices have longer ones; 8 blocks are what a cluster has on every device.
#pragma once

#include "primitives/block.h"
#include "primitives/stored_pack.h"
#include "primitives/warp.h"
#include "ptx/cluster.h"
#include "runtime/clusters.h"
#include "runtime/device.h"
#include "runtime/preconditions.h"

#include <cstddef>
#include <cstdint>

namespace kg {

// Below it no row is worth a cluster.
inline constexpr std::int64_t kClusterMinCols = 4096;
inline constexpr int kClusterBlocks = 8; // at most
inline constexpr int kClusterThreads = 1024;
// Packs that a thread loads before it uses the first one. Single elements, of rows that have no
// packs, are few bytes each.
template <int Count>
inline constexpr int kClusterInFlight = Count == 1 ? 8 : 4;

// Floats in front of a slice, for two reductions: one of each per warp, then the block's two.
inline constexpr int kClusterScratchFloats = 2 * kMaxWarps + kPackElements<float>;
inline constexpr std::size_t kClusterScratch = kClusterScratchFloats * sizeof(float);

// How a row is cut.
struct ClusterRow {
  int blocks;
  std::int64_t slice; // packs of a block
  int threads;
  std::size_t bytes; // of shared memory that hold a slice
};

constexpr ClusterRow cluster_row(std::int64_t cols, int count, std::size_t element) {
  constexpr std::int64_t kSliceBytes = 32 * 1024;
  const std::int64_t pack = count * static_cast<std::int64_t>(element);
  const std::int64_t packs = div_up(cols, count);
  int blocks = 2;
  while (blocks < kClusterBlocks && packs * pack > blocks * kSliceBytes) blocks *= 2;
  const std::int64_t slice = div_up(packs, blocks);
  int threads = 128;
  while (threads < kClusterThreads && threads * 4 < slice) threads *= 2;
  return {blocks, slice, threads, static_cast<std::size_t>(slice * pack)};
}

// Whether clusters can do rows of this length, whatever their type.
inline bool cluster_holds(std::int64_t cols) {
  return cols >= kClusterMinCols && device_has_clusters() &&
         kClusterScratch + cluster_row(cols, 1, sizeof(float)).bytes + kPackBytes <=
             device_properties().shared_bytes_per_block_optin;
}

// Longest sequential chain of additions in a row's sum: a thread's elements, those of a warp, of a
// block, of the cluster.
constexpr std::int64_t cluster_chain(std::int64_t cols) {
  std::int64_t own = 0;
  for (const int count : {1, 4, 8}) {
    const ClusterRow of = cluster_row(cols, count, count == 8 ? 2 : 4);
    own = std::max(own, div_up(of.slice, of.threads) * count);
  }
  return own + kButterflySteps + kClusterThreads / kLanes + kButterflySteps;
}

// A block's slice of the row: packs [begin, end) of it, in shared memory. A thread reads only what
// it wrote, so no barrier is needed.
template <class T, int Count>
class ClusterSlice {
 public:
  __device__ ClusterSlice(void* memory, std::int64_t slice, std::int64_t cols)
      : memory_(static_cast<StoredPack<T, Count>*>(memory)) {
    const std::int64_t packs = (cols + Count - 1) / Count;
    begin_ = ptx::cluster_rank() * slice;
    end_ = begin_ + slice < packs ? begin_ + slice : packs;
    last_ = end_ * Count < cols ? end_ * Count : cols;
  }

  // Loads the slice, several packs together: load(pack, end of the slice in elements) gives a
  // stored pack, padded behind that end, keep(stored) what of it stays, use(that) sees each.
  template <class Load, class Keep, class Use>
  __device__ __forceinline__ void read(Load load, Keep keep, Use use) {
    constexpr int kInFlight = kClusterInFlight<Count>;
    const auto threads = static_cast<std::int64_t>(blockDim.x);
    for (std::int64_t first = begin_ + threadIdx.x; first < end_; first += kInFlight * threads) {
      decltype(load(0, 0)) stored[kInFlight];
      KG_UNROLL
      for (int p = 0; p < kInFlight; ++p) stored[p] = load(first + p * threads, last_);
      loaded(stored);
      KG_UNROLL
      for (int p = 0; p < kInFlight; ++p) {
        if (first + p * threads >= end_) break;
        const StoredPack<T, Count> kept = keep(stored[p]);
        memory_[first + p * threads - begin_] = kept;
        use(widened(kept));
      }
    }
  }

  // use(pack number, values) of each pack of this thread.
  template <class Use>
  __device__ __forceinline__ void each(Use use) const {
    for (std::int64_t pack = begin_ + threadIdx.x; pack < end_; pack += blockDim.x)
      use(pack, widened(StoredPack<T, Count>(memory_[pack - begin_])));
  }

 private:
  StoredPack<T, Count>* memory_;
  std::int64_t begin_, end_, last_;
};

// Each block has left its number at `mine` in its dynamic shared memory, and cluster_sync() has
// been passed since: lane r of each warp gets block r's, lanes behind the last one `rest`.
__device__ __forceinline__ float of_blocks(const float* mine, unsigned blocks, float rest) {
  const unsigned lane = threadIdx.x % kLanes;
  return lane < blocks ? ptx::load_from_block(mine, lane) : rest;
}

} // namespace kg
