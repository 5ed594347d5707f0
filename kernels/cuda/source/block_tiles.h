// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiles larger than a warp (CUDA C++ Programming Guide, "Cooperative Groups", "Thread Block Tile"):
// 64 to 1024 threads of a block. Each tile synchronizes on its own named barrier.
#pragma once

#include "runtime/cooperative_groups.h"

namespace cooperative_groups {

// On a GPU, tiles of this size communicate through this memory. The emulator does not need it.
template <unsigned Threads = kg::host::kMaxThreads>
struct block_tile_memory {};

template <unsigned Threads>
thread_block this_thread_block(block_tile_memory<Threads>&) {
  return {};
}

template <unsigned Size, class Parent>
requires(Size > kg::host::kWarpSize) class thread_block_tile<Size, Parent> {
  static_assert(Size <= kg::host::kMaxThreads && (Size & (Size - 1)) == 0,
                "a tile has a power of two of threads, at most 1024");

 public:
  explicit thread_block_tile(unsigned meta_group_size) : meta_group_size_(meta_group_size) {}
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned thread_rank() { return detail::block().thread_rank() % Size; }
  unsigned meta_group_size() const { return meta_group_size_; }
  unsigned meta_group_rank() const {
    return detail::block().thread_rank() / Size % meta_group_size_;
  }
  // Each tile of a block has its own barrier. Tiles of two sizes that wait at the same time may use
  // the same barrier, which the emulator refuses.
  void sync(Location where = Location::here()) const {
    kg::host::Block& block = detail::block(where);
    block.named_barrier(block.thread_rank() / Size % kg::host::kNamedBarriers, Size, true, where);
  }

 private:
  unsigned meta_group_size_;
};

// Every thread combines the results of the warps in rank order.
template <class T, unsigned Size, class Parent, class Combine>
requires(Size > kg::host::kWarpSize) T reduce(const thread_block_tile<Size, Parent>& tile, T value,
                                              Combine combine, Location where = Location::here()) {
  __shared__ T of_warps[kg::host::kMaxWarps];
  constexpr unsigned kWarps = Size / kg::host::kWarpSize;
  T* const mine = of_warps + thread_block::thread_rank() / Size * kWarps;
  const auto warp = tiled_partition<kg::host::kWarpSize>(this_thread_block());
  const T of_warp = reduce(warp, value, combine, where);
  if (warp.thread_rank() == 0) mine[tile.thread_rank() / kg::host::kWarpSize] = of_warp;
  tile.sync(where);
  T result = mine[0];
  for (unsigned i = 1; i < kWarps; ++i) result = combine(result, mine[i]);
  tile.sync(where); // the next reduction overwrites `of_warps`
  return result;
}

} // namespace cooperative_groups
