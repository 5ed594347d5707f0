// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Cooperative groups inside a block: thread blocks, tiles, coalesced groups, partitions, reductions
// and scans. Grids and clusters: block_group_test.cu.
#include "tests/unit/kernels/runtime/executor_support.h"

#include <gmock/gmock.h>

namespace kg::executor {
namespace {

namespace cg = cooperative_groups;

using testing::Each;
using testing::HasSubstr;

constexpr unsigned kFull = 0xffffffffu;

// --- thread_block ---

struct BlockView {
  unsigned rank, threads, dim_z, index_y, group_x, neighbour;
};

__global__ void view_block(BlockView* out) {
  __shared__ unsigned ranks[128];
  const cg::thread_block block = cg::this_thread_block();
  const unsigned rank = block.thread_rank();
  ranks[rank] = rank;
  block.sync();
  const unsigned neighbour = ranks[(rank + 1) % block.size()];
  cg::sync(block);
  out[blockIdx.x * block.num_threads() + rank] = {rank,
                                                  block.num_threads(),
                                                  block.dim_threads().z,
                                                  block.thread_index().y,
                                                  block.group_index().x,
                                                  neighbour};
}

TEST(ThreadBlock, KnowsRankSizeAndBarrier) {
  under_every_order([] {
    const auto out = filled<BlockView>(2 * 105, [](BlockView* data, Stream& stream) {
      launch(view_block, {.grid = 2, .block = {7, 5, 3}, .stream = &stream}, data);
    });
    for (unsigned i = 0; i < out.size(); ++i) {
      EXPECT_EQ(out[i].rank, i % 105);
      EXPECT_EQ(out[i].threads, 105u);
      EXPECT_EQ(out[i].dim_z, 3u);
      EXPECT_EQ(out[i].index_y, i % 105 / 7 % 5);
      EXPECT_EQ(out[i].group_x, i / 105);
      EXPECT_EQ(out[i].neighbour, (i % 105 + 1) % 105);
    }
  });
}

// --- Tiles ---

struct TileView {
  unsigned rank, size, meta_rank, meta_size, first, up, down, exclusive_or, ballot, any, all;
  unsigned match_any, match_all, sum, inclusive, exclusive;
};

template <unsigned kSize>
__global__ void view_tile(TileView* out) {
  const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
  const unsigned id = threadIdx.x;
  int same = 0;
  tile.sync();
  out[id] = {tile.thread_rank(),
             tile.num_threads(),
             tile.meta_group_rank(),
             tile.meta_group_size(),
             tile.shfl(id, 0),
             tile.shfl_up(id, 1),
             tile.shfl_down(id, 3),
             tile.shfl_xor(id, 2),
             tile.ballot(id % 3 == 0),
             static_cast<unsigned>(tile.any(id % 3 == 0)),
             static_cast<unsigned>(tile.all(id % 3 == 0)),
             tile.match_any(id % 2),
             tile.match_all(id / kSize, same),
             cg::reduce(tile, id, cg::plus<unsigned>{}),
             cg::inclusive_scan(tile, id),
             cg::exclusive_scan(tile, id, cg::plus<unsigned>{})};
  if (same != 1) out[id].match_all = 99;
}

template <unsigned kSize>
void expect_tile_view() {
  SCOPED_TRACE(kSize);
  constexpr unsigned kThreads = 96;
  const auto out = filled<TileView>(kThreads, [](TileView* data, Stream& stream) {
    launch(view_tile<kSize>, {.grid = 1, .block = kThreads, .stream = &stream}, data);
  });
  for (unsigned id = 0; id < kThreads; ++id) {
    const unsigned rank = id % kSize;
    const unsigned first = id - rank;
    unsigned ballot = 0, below = 0, sum = 0, same_parity = 0;
    for (unsigned r = 0; r < kSize; ++r) {
      if ((first + r) % 3 == 0) ballot |= 1u << r;
      if ((first + r) % 2 == id % 2) same_parity |= 1u << r;
      if (r < rank) below += first + r;
      sum += first + r;
    }
    const unsigned everyone = kSize == 32 ? kFull : (1u << kSize) - 1;
    const TileView& view = out[id];
    EXPECT_EQ(view.rank, rank) << id;
    EXPECT_EQ(view.size, kSize);
    EXPECT_EQ(view.meta_rank, id / kSize);
    EXPECT_EQ(view.meta_size, kThreads / kSize);
    EXPECT_EQ(view.first, first);
    EXPECT_EQ(view.up, rank >= 1 ? id - 1 : id);
    EXPECT_EQ(view.down, rank + 3 < kSize ? id + 3 : id);
    EXPECT_EQ(view.exclusive_or, (rank ^ 2) < kSize ? first + (rank ^ 2) : id);
    EXPECT_EQ(view.ballot, ballot) << id;
    EXPECT_EQ(view.any, static_cast<unsigned>(ballot != 0));
    EXPECT_EQ(view.all, static_cast<unsigned>(ballot == everyone));
    EXPECT_EQ(view.match_any, same_parity);
    EXPECT_EQ(view.match_all, everyone);
    EXPECT_EQ(view.sum, sum);
    EXPECT_EQ(view.inclusive, below + id);
    EXPECT_EQ(view.exclusive, below);
  }
}

TEST(Tile, OfEverySize) {
  under_every_order([] {
    expect_tile_view<1>();
    expect_tile_view<2>();
    expect_tile_view<4>();
    expect_tile_view<8>();
    expect_tile_view<16>();
    expect_tile_view<32>();
  });
}

// Tiles of one warp diverge: each loops as often as its own rank says.
__global__ void tiles_diverge(unsigned* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  unsigned value = threadIdx.x;
  for (unsigned i = 0; i <= tile.meta_group_rank(); ++i) value = tile.shfl(value, 1) + 1;
  out[threadIdx.x] = value;
}

TEST(Tile, AreIndependent) {
  under_every_order([] {
    const auto out = filled<unsigned>(64, [](unsigned* data, Stream& stream) {
      launch(tiles_diverge, {.grid = 1, .block = 64, .stream = &stream}, data);
    });
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], i / 8 * 8 + 1 + i / 8 + 1) << i;
  });
}

__global__ void tile_of_tile(unsigned* out) {
  const auto half = cg::tiled_partition<16>(cg::this_thread_block());
  const auto quad = cg::tiled_partition<4>(half);
  out[threadIdx.x] = quad.meta_group_rank() * 10000 + quad.meta_group_size() * 100 +
                     quad.thread_rank() * 10 + (quad.shfl(threadIdx.x, 3) == threadIdx.x);
}

TEST(Tile, OfATile) {
  const auto out = filled<unsigned>(32, [](unsigned* data, Stream& stream) {
    launch(tile_of_tile, {.grid = 1, .block = 32, .stream = &stream}, data);
  });
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], i / 4 % 4 * 10000 + 400 + i % 4 * 10 + (i % 4 == 3)) << i;
  }
}

// --- Coalesced groups: the lanes that reach the call before the warp blocks ---

struct Coalesced {
  unsigned mask, rank, size, first, ballot, sum;
};

__global__ void coalesce(Coalesced* out) {
  const unsigned id = threadIdx.x;
  const auto fill = [&](const cg::coalesced_group& group) {
    out[id] = {group.mask(),         group.thread_rank(),
               group.num_threads(),  group.shfl(id, 0),
               group.ballot(id % 2), cg::reduce(group, id, cg::plus<unsigned>{})};
  };
  if (id % 32 == 5) return;
  if (id % 3 == 0) {
    fill(cg::coalesced_threads());
  } else {
    fill(cg::coalesced_threads());
  }
}

TEST(CoalescedGroup, IsTheLanesOfABranch) {
  under_every_order([] {
    const auto out = filled<Coalesced>(50, [](Coalesced* data, Stream& stream) {
      launch(coalesce, {.grid = 1, .block = 50, .stream = &stream}, data);
    });
    for (unsigned id = 0; id < 50; ++id) {
      if (id % 32 == 5) continue;
      Coalesced expected{};
      for (unsigned other = id / 32 * 32; other < std::min(50u, id / 32 * 32 + 32); ++other) {
        if (other % 32 == 5 || (other % 3 == 0) != (id % 3 == 0)) continue;
        if (expected.size == 0) expected.first = other;
        if (other % 2 == 1) expected.ballot |= 1u << expected.size;
        expected.mask |= 1u << other % 32;
        expected.rank += other < id;
        ++expected.size;
        expected.sum += other;
      }
      EXPECT_EQ(out[id].mask, expected.mask) << id;
      EXPECT_EQ(out[id].rank, expected.rank);
      EXPECT_EQ(out[id].size, expected.size);
      EXPECT_EQ(out[id].first, expected.first);
      EXPECT_EQ(out[id].ballot, expected.ballot);
      EXPECT_EQ(out[id].sum, expected.sum);
    }
  });
}

// One atomic per warp, handed out to its lanes: the classic use, in a loop that lanes leave early.
__global__ void aggregated_count(unsigned* counter, unsigned* tickets) {
  for (unsigned i = 0; i < threadIdx.x % 4; ++i) {
    const cg::coalesced_group group = cg::coalesced_threads();
    unsigned first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(counter, group.size());
    first = group.shfl(first, 0);
    atomicAdd(&tickets[first + group.thread_rank()], 1);
  }
}

TEST(CoalescedGroup, AggregatesAtomics) {
  under_every_order([] {
    unsigned counter = 0;
    std::vector<unsigned> tickets(3 * 64 * (0 + 1 + 2 + 3) / 4);
    launch(aggregated_count, {.grid = 3, .block = 64}, &counter, tickets.data());
    EXPECT_EQ(counter, tickets.size());
    EXPECT_THAT(tickets, Each(1u));
  });
}

// A lane that waits elsewhere does not hold the group up.
__global__ void coalesce_while_another_waits(unsigned* out) {
  if (threadIdx.x < 8) {
    out[threadIdx.x] = cg::coalesced_threads().size();
  }
  __syncwarp();
  out[threadIdx.x] += 100;
}

TEST(CoalescedGroup, DoesNotWaitForTheRestOfTheWarp) {
  under_every_order([] {
    std::vector<unsigned> out(32);
    launch(coalesce_while_another_waits, {.grid = 1, .block = 32}, out.data());
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 8 ? 108u : 100u);
  });
}

// --- Partitions ---

struct Parts {
  unsigned labeled, labeled_rank, binary, tiled, tiled_meta_rank, tiled_meta_size;
};

__global__ void partition(Parts* out) {
  const unsigned id = threadIdx.x;
  if (id >= 29) return;
  const cg::coalesced_group all = cg::coalesced_threads();
  const auto labeled = cg::labeled_partition(all, id % 5);
  const auto binary = cg::binary_partition(all, id < 10);
  const auto tiled = cg::tiled_partition(all, 8);
  out[id] = {labeled.mask(), labeled.thread_rank(),   binary.mask(),
             tiled.mask(),   tiled.meta_group_rank(), tiled.meta_group_size()};
}

TEST(Partition, ByLabelPredicateAndSize) {
  under_every_order([] {
    const auto out = filled<Parts>(29, [](Parts* data, Stream& stream) {
      launch(partition, {.grid = 1, .block = 32, .stream = &stream}, data);
    });
    for (unsigned id = 0; id < 29; ++id) {
      unsigned label = 0;
      for (unsigned other = id % 5; other < 29; other += 5) label |= 1u << other;
      EXPECT_EQ(out[id].labeled, label) << id;
      EXPECT_EQ(out[id].labeled_rank, id / 5);
      EXPECT_EQ(out[id].binary, id < 10 ? 0x3ffu : 0x1ffffc00u);
      EXPECT_EQ(out[id].tiled, (0xffu << id / 8 * 8) & 0x1fffffffu);
      EXPECT_EQ(out[id].tiled_meta_rank, id / 8);
      EXPECT_EQ(out[id].tiled_meta_size, 4u);
    }
  });
}

// --- reduce and scan ---

struct Combined {
  int least, greatest, scanned;
  unsigned bit_and, bit_or, bit_xor;
  float sum, running;
};

__global__ void combine(Combined* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int value = static_cast<int>(threadIdx.x * 7 % 16) - 5;
  const unsigned bits = 0xf0u | (1u << tile.thread_rank());
  const float real = static_cast<float>(value) * 0.25f;
  out[threadIdx.x] = {cg::reduce(tile, value, cg::less<int>{}),
                      cg::reduce(tile, value, cg::greater<int>{}),
                      cg::inclusive_scan(tile, value, cg::greater<int>{}),
                      cg::reduce(tile, bits, cg::bit_and<unsigned>{}),
                      cg::reduce(tile, bits, cg::bit_or<unsigned>{}),
                      cg::reduce(tile, bits, cg::bit_xor<unsigned>{}),
                      cg::reduce(tile, real, cg::plus<float>{}),
                      cg::inclusive_scan(tile, real)};
}

TEST(GroupReduce, EveryOperatorAndScan) {
  under_every_order([] {
    const auto out = filled<Combined>(48, [](Combined* data, Stream& stream) {
      launch(combine, {.grid = 1, .block = 48, .stream = &stream}, data);
    });
    int highest = -99;
    float running = 0;
    for (unsigned i = 0; i < 48; ++i) {
      if (i % 16 == 0) {
        highest = -99;
        running = 0;
      }
      const int value = static_cast<int>(i * 7 % 16) - 5;
      highest = std::max(highest, value);
      running += static_cast<float>(value) * 0.25f;
      EXPECT_EQ(out[i].least, -5);
      EXPECT_EQ(out[i].greatest, 10);
      EXPECT_EQ(out[i].scanned, highest) << i;
      EXPECT_EQ(out[i].bit_and, 0xf0u);
      EXPECT_EQ(out[i].bit_or, 0xffffu);
      EXPECT_EQ(out[i].bit_xor, 0xff0fu);   // of the 16 lanes 4 bring no bit of 0xf0 of their own
      EXPECT_EQ(out[i].sum, 40.0f * 0.25f); // -5 + ... + 10
      EXPECT_EQ(out[i].running, running) << i; // multiples of 1/4: exact in any order
    }
  });
}

__device__ int2 larger_of(int2 a, int2 b) { return a.x < b.x ? b : a; }

__global__ void combine_by_functions(int2* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int id = static_cast<int>(threadIdx.x);
  const int factor = static_cast<int>(blockDim.x) / 10; // 3, and not known to the compiler
  const int sum =
      cg::reduce(tile, id, [factor](int a, int b) { return a + b + factor; }); // 31 of them
  out[threadIdx.x] = {cg::reduce(tile, int2{id * 7 % 32, id}, larger_of).y, sum};
}

TEST(GroupReduce, ByFunctionsAndWhatHoldsValues) {
  under_every_order([] {
    const auto out = filled<int2>(32, [](int2* data, Stream& stream) {
      launch(combine_by_functions, {.grid = 1, .block = 32, .stream = &stream}, data);
    });
    for (const int2 each : out) {
      EXPECT_EQ(each.x, 9); // 9 * 7 is 31 more than 32
      EXPECT_EQ(each.y, 31 * 16 + 31 * 3);
    }
  });
}

TEST(Groups, OutsideAKernelAreAnError) {
  EXPECT_THAT(error_of([] { (void)cg::this_thread_block().thread_rank(); }),
              HasSubstr("a cooperative group was called outside a kernel"));
  EXPECT_THAT(error_of([] { (void)cg::coalesced_threads(); }), HasSubstr("outside a kernel"));
}

} // namespace
} // namespace kg::executor
