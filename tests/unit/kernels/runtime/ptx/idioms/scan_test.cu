// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prefix sums: within a warp by shuffles, within a block in three ways, and over the grid in one
// pass, where each block looks back at the ones before it (Merrill and Garland, "Single-pass
// Parallel Prefix Scan with Decoupled Look-back", 2016). Compaction uses one. Integers: exact.
#include "runtime/cooperative_groups.h"
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <numeric>

namespace kg::idioms {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kBlock = 256;

__device__ int warp_inclusive(int value) {
  const unsigned lane = threadIdx.x & 31;
  KG_UNROLL
  for (unsigned delta = 1; delta < 32; delta <<= 1) {
    const int below = __shfl_up_sync(0xffffffffu, value, delta);
    if (lane >= delta) value += below;
  }
  return value;
}

// Warps first, then the warps' totals, then both together.
__device__ int block_inclusive(int value, int* totals) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  value = warp_inclusive(value);
  if (lane == 31) totals[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const unsigned warps = blockDim.x / 32;
    const int total = warp_inclusive(lane < warps ? totals[lane] : 0);
    if (lane < warps) totals[lane] = total;
  }
  __syncthreads();
  return warp == 0 ? value : value + totals[warp - 1];
}

__global__ void inclusive_by_shuffles(const int* in, int* out) {
  __shared__ int totals[32];
  out[threadIdx.x] = block_inclusive(in[threadIdx.x], totals);
}

// Hillis and Steele: two buffers in turn, every thread adds at every step.
__global__ void inclusive_in_two_buffers(const int* in, int* out) {
  __shared__ int buffer[2][kBlock];
  unsigned from = 0;
  buffer[0][threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    const unsigned to = 1 - from;
    buffer[to][threadIdx.x] =
        buffer[from][threadIdx.x] + (threadIdx.x >= step ? buffer[from][threadIdx.x - step] : 0);
    from = to;
    __syncthreads();
  }
  out[threadIdx.x] = buffer[from][threadIdx.x];
}

// Blelloch: up the tree and down again, two elements per thread, padded against bank conflicts.
__device__ unsigned padded(unsigned i) { return i + (i >> 5); }

__global__ void exclusive_by_tree(const int* in, int* out) {
  int* tree = dynamic_shared<int>();
  const unsigned n = 2 * blockDim.x;
  const unsigned t = threadIdx.x;
  tree[padded(t)] = in[t];
  tree[padded(t + blockDim.x)] = in[t + blockDim.x];
  unsigned offset = 1;
  for (unsigned active = n / 2; active > 0; active /= 2) {
    __syncthreads();
    if (t < active)
      tree[padded(offset * (2 * t + 2) - 1)] += tree[padded(offset * (2 * t + 1) - 1)];
    offset *= 2;
  }
  if (t == 0) tree[padded(n - 1)] = 0;
  for (unsigned active = 1; active < n; active *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < active) {
      const unsigned left = padded(offset * (2 * t + 1) - 1);
      const unsigned right = padded(offset * (2 * t + 2) - 1);
      const int below = tree[left];
      tree[left] = tree[right];
      tree[right] += below;
    }
  }
  __syncthreads();
  out[t] = tree[padded(t)];
  out[t + blockDim.x] = tree[padded(t + blockDim.x)];
}

__global__ void exclusive_by_groups(const int* in, int* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  out[threadIdx.x] = cg::exclusive_scan(tile, in[threadIdx.x], cg::plus<int>());
}

std::vector<int> inclusive(const std::vector<int>& values) {
  std::vector<int> sums(values.size());
  std::partial_sum(values.begin(), values.end(), sums.begin());
  return sums;
}
std::vector<int> exclusive(const std::vector<int>& values) {
  std::vector<int> sums(values.size());
  std::exclusive_scan(values.begin(), values.end(), sums.begin(), 0);
  return sums;
}

TEST(BlockScan, IsExact) {
  under_thread_orders([](Stream& stream) {
    const auto values = integers<int>(2 * kBlock, -9, 9);
    const auto in = on_device(values, stream);
    const auto run = [&](auto kernel, unsigned n, std::size_t shared_bytes) {
      DeviceBuffer<int> out(n);
      launch(kernel, {.grid = 1, .block = kBlock, .shared_bytes = shared_bytes, .stream = &stream},
             in.data(), out.data());
      return on_host(out, stream);
    };
    const std::vector<int> half(values.begin(), values.begin() + kBlock);
    EXPECT_EQ(run(inclusive_by_shuffles, kBlock, 0), inclusive(half));
    EXPECT_EQ(run(inclusive_in_two_buffers, kBlock, 0), inclusive(half));
    EXPECT_EQ(run(exclusive_by_tree, 2 * kBlock, (2 * kBlock + 16) * sizeof(int)),
              exclusive(values));
    const auto by_warp = run(exclusive_by_groups, kBlock, 0);
    for (unsigned w = 0; w < kBlock / 32; ++w) {
      const std::vector<int> warp(half.begin() + 32 * w, half.begin() + 32 * w + 32);
      EXPECT_EQ(std::vector<int>(by_warp.begin() + 32 * w, by_warp.begin() + 32 * w + 32),
                exclusive(warp));
    }
  });
}

// --- Over the grid, looking back ---

// What a tile has published: in one word, so that it is seen whole. The state is in the high half.
enum State : unsigned { kNothing = 0, kAggregate = 1, kPrefix = 2 };

__device__ unsigned long long word(State state, int value) {
  return static_cast<unsigned long long>(state) << 32 | static_cast<unsigned>(value);
}

// Tiles take their number from a counter, so that a tile's predecessors always run before it.
__global__ void look_back(const int* in, int* out, unsigned n, unsigned* next_tile,
                          volatile unsigned long long* tiles) {
  __shared__ int totals[32];
  __shared__ unsigned tile;
  __shared__ int before;
  if (threadIdx.x == 0) tile = atomicAdd(next_tile, 1u);
  __syncthreads();
  const unsigned i = tile * blockDim.x + threadIdx.x;
  const int mine = block_inclusive(i < n ? in[i] : 0, totals);
  if (threadIdx.x == blockDim.x - 1) {
    tiles[tile] = word(tile == 0 ? kPrefix : kAggregate, mine);
    __threadfence();
    int sum = 0;
    for (int t = static_cast<int>(tile) - 1; t >= 0;) {
      const unsigned long long seen = tiles[t];
      const auto state = static_cast<State>(seen >> 32);
      if (state == kNothing) {
        __nanosleep(20);
        continue;
      }
      sum += static_cast<int>(seen & 0xffffffffu);
      if (state == kPrefix) break;
      --t;
    }
    before = sum;
    if (tile != 0) tiles[tile] = word(kPrefix, sum + mine);
  }
  __syncthreads();
  if (i < n) out[i] = before + mine;
}

TEST(GridScan, LooksBack) {
  under_thread_orders([](Stream& stream) {
    for (unsigned n : {1u, 300u, 20'000u}) {
      const auto values = integers<int>(n, -9, 9, n);
      const auto in = on_device(values, stream);
      const unsigned blocks = blocks_for(n, kBlock);
      DeviceBuffer<int> out(n);
      const auto next_tile = zeros<unsigned>(1, stream);
      const auto tiles = zeros<unsigned long long>(blocks, stream);
      launch(look_back, {.grid = blocks, .block = kBlock, .stream = &stream}, in.data(), out.data(),
             n, next_tile.data(), tiles.data());
      EXPECT_EQ(on_host(out, stream), inclusive(values)) << "n = " << n;
    }
  });
}

// --- Compaction: each warp keeps what passes, in order ---

__global__ void keep_positive(const int* in, unsigned n, int* out, unsigned* kept) {
  __shared__ int totals[32];
  const unsigned i = threadIdx.x;
  const bool keep = i < n && in[i] > 0;
  const unsigned votes = __ballot_sync(0xffffffffu, keep);
  const unsigned lanes_below = (1u << (threadIdx.x & 31)) - 1;
  if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = __popc(votes);
  __syncthreads();
  int base = 0;
  for (unsigned w = 0; w < threadIdx.x / 32; ++w) base += totals[w];
  if (keep) out[base + __popc(votes & lanes_below)] = in[i];
  if (threadIdx.x == blockDim.x - 1) *kept = base + __popc(votes);
}

TEST(Compaction, KeepsTheOrder) {
  under_thread_orders([](Stream& stream) {
    const auto values = integers<int>(200, -9, 9);
    std::vector<int> expected;
    for (int v : values) {
      if (v > 0) expected.push_back(v);
    }
    const auto in = on_device(values, stream);
    DeviceBuffer<int> out(expected.size());
    DeviceBuffer<unsigned> kept(1);
    launch(keep_positive, {.grid = 1, .block = kBlock, .stream = &stream}, in.data(), 200u,
           out.data(), kept.data());
    EXPECT_EQ(on_host(kept, stream)[0], expected.size());
    EXPECT_EQ(on_host(out, stream), expected);
  });
}

} // namespace
} // namespace kg::idioms
