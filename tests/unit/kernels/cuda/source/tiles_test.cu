// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Cooperative groups' tiles of more than a warp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <gtest/gtest.h>

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 256;

// The threads of a tile turn their values round, and add them up.
template <unsigned Size>
__global__ void turn_and_add(int* data, int* sums) {
  __shared__ cg::block_tile_memory<kThreads> memory;
  __shared__ int values[kThreads];
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<Size>(block);
  int* const mine = values + tile.meta_group_rank() * tile.size();
  mine[tile.thread_rank()] = data[threadIdx.x];
  // Each tile as often as its rank says: no other waits with it.
  for (unsigned i = 0; i < tile.meta_group_rank(); ++i) tile.sync();
  tile.sync();
  data[threadIdx.x] = mine[tile.size() - 1 - tile.thread_rank()];
  const int first = cg::reduce(tile, data[threadIdx.x], cg::plus<int>());
  const int second = cg::reduce(tile, data[threadIdx.x], cg::greater<int>());
  sums[threadIdx.x] = first + second;
}

template <unsigned Size>
void expect_turned() {
  int *data = nullptr, *sums = nullptr;
  ASSERT_EQ(cudaMallocManaged(&data, kThreads * sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&sums, kThreads * sizeof(int)), cudaSuccess);
  for (int i = 0; i < kThreads; ++i) data[i] = i;
  turn_and_add<Size><<<1, kThreads>>>(data, sums);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  constexpr int kSize = Size;
  for (int i = 0; i < kThreads; ++i) {
    const int begin = i / kSize * kSize, last = begin + kSize - 1;
    EXPECT_EQ(data[i], begin + last - i);
    EXPECT_EQ(sums[i], kSize * (begin + last) / 2 + last);
  }
  cudaFree(data);
  cudaFree(sums);
}

TEST(BlockTiles, OfTwoWarps) { expect_turned<64>(); }
TEST(BlockTiles, OfTheWholeBlock) { expect_turned<kThreads>(); }

} // namespace
