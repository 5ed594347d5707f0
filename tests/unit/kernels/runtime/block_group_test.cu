// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks that run together: cooperative grids and clusters.
#include "tests/unit/kernels/runtime/executor_support.h"

#include <gmock/gmock.h>
#include <stdexcept>

namespace kg::executor {

namespace cg = cooperative_groups;

constexpr int kGridSyncLine = __LINE__ + 3;
__global__ void one_block_leaves(unsigned leaver) {
  if (blockIdx.x == leaver) return;
  cg::this_grid().sync();
}

namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// --- Grids ---

// Every round, each block publishes a value and sums those of all blocks.
__global__ void sum_over_grid(unsigned rounds, unsigned* published, unsigned* out) {
  const cg::grid_group grid = cg::this_grid();
  unsigned sum = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) published[blockIdx.x] = blockIdx.x + round;
    grid.sync();
    for (unsigned b = 0; b < gridDim.x; ++b) sum += published[b];
    grid.sync();
  }
  out[grid.thread_rank()] = sum;
}

TEST(GridGroup, SynchronisesAllBlocks) {
  under_every_order([] {
    for (unsigned blocks : {1u, 3u, 32u}) {
      std::vector<unsigned> published(blocks);
      const auto out = filled<unsigned>(blocks * 40, [&](unsigned* data, Stream& stream) {
        launch(sum_over_grid, {.grid = blocks, .block = 40, .stream = &stream, .cooperative = true},
               5, published.data(), data);
      });
      EXPECT_THAT(out, Each(5 * blocks * (blocks - 1) / 2 + 10 * blocks)) << blocks << " blocks";
    }
  });
}

struct GridView {
  unsigned long long blocks, block_rank, threads, thread_rank;
  unsigned dim_y, valid;
};

__global__ void view_grid(GridView* out) {
  const cg::grid_group grid = cg::this_grid();
  out[grid.thread_rank()] = {grid.num_blocks(),  grid.block_rank(),  grid.num_threads(),
                             grid.thread_rank(), grid.group_dim().y, grid.is_valid()};
}

TEST(GridGroup, KnowsRanksAndSizes) {
  for (const bool cooperative : {true, false}) {
    const auto out = filled<GridView>(12 * 10, [&](GridView* data, Stream& stream) {
      launch(view_grid,
             {.grid = {2, 3, 2}, .block = {5, 2}, .stream = &stream, .cooperative = cooperative},
             data);
    });
    for (unsigned i = 0; i < out.size(); ++i) {
      EXPECT_EQ(out[i].blocks, 12u);
      EXPECT_EQ(out[i].block_rank, i / 10);
      EXPECT_EQ(out[i].threads, 120u);
      EXPECT_EQ(out[i].thread_rank, i);
      EXPECT_EQ(out[i].dim_y, 3u);
      EXPECT_EQ(out[i].valid != 0, cooperative);
    }
  }
}

__global__ void sync_grid() { cg::this_grid().sync(); }

TEST(GridGroup, NeedsACooperativeLaunch) {
  const auto refusal =
      AllOf(HasSubstr("block_group_test.cu"),
            HasSubstr("grid_group::sync needs all blocks to run together: launch with "
                      ".cooperative = true"));
  EXPECT_THAT(error_of([] { launch(sync_grid, {.grid = 2, .block = 4}); }), refusal);
  // A cluster is not the grid.
  EXPECT_THAT(error_of([] {
                launch(sync_grid, {.grid = 4, .block = 4, .cluster = {2, 1, 1}});
              }),
              refusal);
}

TEST(GridGroup, BlockThatLeavesIsADeadlock) {
  under_every_order([] {
    for (unsigned leaver : {0u, 2u}) {
      EXPECT_THAT(
          error_of([&] {
            launch(one_block_leaves, {.grid = 4, .block = 33, .cooperative = true}, leaver);
          }),
          AllOf(HasSubstr("kernel kg::executor::one_block_leaves"),
                HasSubstr("deadlock: grid_group::sync waits for blocks that have ended (1 of 4)"),
                HasSubstr(place("block_group_test.cu", kGridSyncLine))));
    }
    EXPECT_EQ(error_of([] {
                launch(one_block_leaves, {.grid = 4, .block = 33, .cooperative = true}, 9);
              }),
              "");
  });
}

// On a GPU it is thread 0 that meets the other blocks.
__global__ void first_thread_leaves(unsigned leaves) {
  if (threadIdx.x == leaves) return;
  cg::this_grid().sync();
}

TEST(GridGroup, NeedsThreadZeroOfEveryBlock) {
  under_every_order([] {
    const LaunchConfig config{.grid = 2, .block = 40, .cooperative = true};
    EXPECT_THAT(error_of([&] { launch(first_thread_leaves, config, 0); }),
                HasSubstr("grid_group::sync after thread 0 of the block has exited"));
    EXPECT_EQ(error_of([&] { launch(first_thread_leaves, config, 7); }), "");
  });
}

// What one block throws is what the launch throws, whatever the others say about it.
__global__ void one_block_throws(bool spin, const unsigned* never) {
  if (blockIdx.x == 1 && threadIdx.x == 3) throw std::out_of_range("block 1 gives up");
  if (spin) {
    while (*static_cast<const volatile unsigned*>(never) == 0) __nanosleep(10);
  }
  cg::this_grid().sync();
}

TEST(GridGroup, ThrowsTheFirstCause) {
  const unsigned never = 0;
  for (int i = 0; i < 30; ++i) {
    for (const bool spin : {false, true}) {
      const LaunchConfig config{.grid = 4, .block = 8, .cooperative = true};
      EXPECT_THROW(launch(one_block_throws, config, spin, &never), std::out_of_range) << spin;
    }
  }
}

// --- Clusters ---

struct ClusterView {
  unsigned blocks, rank, dim_x, dim_y, index_x, index_y, neighbours;
};

__global__ void view_cluster(ClusterView* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  unsigned* shared = dynamic_shared<unsigned>();
  for (unsigned i = threadIdx.x; i < 100; i += blockDim.x) {
    shared[i] = blockIdx.x + 10 * blockIdx.y;
  }
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const unsigned neighbour = cluster.map_shared_rank(&shared[99], next)[0];
  cluster.sync(); // the neighbour must not end, nor change its memory, before it has been read
  if (threadIdx.x != 0) return;
  const dim3 dims = cluster.dim_blocks();
  const dim3 index = cluster.block_index();
  out[blockIdx.x + gridDim.x * blockIdx.y] = {
      cluster.num_blocks(), cluster.block_rank(), dims.x, dims.y, index.x, index.y, neighbour};
}

void expect_cluster_view(dim3 cluster, bool cooperative) {
  const auto out = filled<ClusterView>(24, [&](ClusterView* data, Stream& stream) {
    launch(view_cluster,
           {.grid = {6, 4},
            .block = 40,
            .shared_bytes = 400,
            .stream = &stream,
            .cluster = cluster,
            .cooperative = cooperative},
           data);
  });
  for (unsigned i = 0; i < 24; ++i) {
    const unsigned x = i % 6, y = i / 6;
    const unsigned rank = x % cluster.x + cluster.x * (y % cluster.y);
    const unsigned next = (rank + 1) % (cluster.x * cluster.y);
    const unsigned next_x = x / cluster.x * cluster.x + next % cluster.x;
    const unsigned next_y = y / cluster.y * cluster.y + next / cluster.x;
    EXPECT_EQ(out[i].blocks, cluster.x * cluster.y);
    EXPECT_EQ(out[i].rank, rank) << i;
    EXPECT_EQ(out[i].dim_x, cluster.x);
    EXPECT_EQ(out[i].dim_y, cluster.y);
    EXPECT_EQ(out[i].index_x, x % cluster.x);
    EXPECT_EQ(out[i].index_y, y % cluster.y);
    EXPECT_EQ(out[i].neighbours, next_x + 10 * next_y) << i;
  }
}

TEST(ClusterGroup, MapsSharedMemoryOfItsBlocks) {
  under_every_order([] {
    for (const dim3 cluster : {dim3{2, 2}, dim3{3, 1}, dim3{1, 4}, dim3{1, 1}}) {
      expect_cluster_view(cluster, false);
    }
  });
}

// A cooperative grid without clusters has clusters of one block.
TEST(ClusterGroup, IsPartOfACooperativeGrid) {
  expect_cluster_view({2, 2}, true);
  expect_cluster_view({1, 1}, true);
}

__global__ void cluster_and_grid(unsigned* published, unsigned* out) {
  const unsigned block = blockIdx.x;
  if (threadIdx.x == 0) atomicAdd(&published[block / 2], 1);
  cg::this_cluster().sync();
  const unsigned mine = published[block / 2];
  cg::this_grid().sync();
  unsigned sum = 0;
  for (unsigned i = 0; i < gridDim.x / 2; ++i) sum += published[i];
  out[block * blockDim.x + threadIdx.x] = 100 * mine + sum;
}

TEST(ClusterGroup, SynchronisesBesideTheGrid) {
  under_every_order([] {
    std::vector<unsigned> published(4);
    const auto out = filled<unsigned>(8 * 16, [&](unsigned* data, Stream& stream) {
      launch(cluster_and_grid,
             {.grid = 8, .block = 16, .stream = &stream, .cluster = {2, 1, 1}, .cooperative = true},
             published.data(), data);
    });
    EXPECT_THAT(out, Each(208u));
  });
}

// Threads that have exited are not waited for.
__global__ void half_a_cluster(unsigned* out) {
  if (threadIdx.x < 20) return;
  *dynamic_shared<unsigned>() = 5 + blockIdx.x;
  cg::this_cluster().sync();
  const unsigned other =
      *cg::this_cluster().map_shared_rank(dynamic_shared<unsigned>(), 1 - blockIdx.x);
  cg::this_cluster().sync();
  out[blockIdx.x * 20 + threadIdx.x - 20] = other;
}

TEST(ClusterGroup, DoesNotWaitForThreadsThatExited) {
  under_every_order([] {
    const auto out = filled<unsigned>(40, [](unsigned* data, Stream& stream) {
      launch(half_a_cluster,
             {.grid = 2, .block = 40, .shared_bytes = 4, .stream = &stream, .cluster = {2, 1, 1}},
             data);
    });
    for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(out[i], i < 20 ? 6u : 5u);
  });
}

// The second block arrives when it has seen what the first one does after its arrival.
__global__ void arrive_and_go_on(unsigned* flag, unsigned* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  *dynamic_shared<unsigned>() = 5 + blockIdx.x;
  while (blockIdx.x == 1 && *static_cast<const volatile unsigned*>(flag) == 0) __nanosleep(10);
  auto token = cluster.barrier_arrive();
  if (blockIdx.x == 0) *static_cast<volatile unsigned*>(flag) = 1;
  cluster.barrier_wait(std::move(token));
  out[blockIdx.x] = *cluster.map_shared_rank(dynamic_shared<unsigned>(), 1 - blockIdx.x);
  cluster.barrier_arrive();
  cluster.barrier_wait();
}

TEST(ClusterGroup, ArrivesBeforeItWaits) {
  under_every_order([] {
    unsigned flag = 0;
    const auto out = filled<unsigned>(2, [&](unsigned* data, Stream& stream) {
      launch(arrive_and_go_on,
             {.grid = 2, .block = 1, .shared_bytes = 4, .stream = &stream, .cluster = {2, 1, 1}},
             &flag, data);
    });
    EXPECT_THAT(out, ElementsAre(6u, 5u));
  });
}

__global__ void wait_only() { cg::this_cluster().barrier_wait(); }

TEST(ClusterGroup, WaitsForAnArrivalOfItsOwn) {
  EXPECT_THROW(launch(wait_only, {.grid = 2, .block = 4, .cluster = {2, 1, 1}}), Error);
}

// --- map_shared_rank, misused ---

enum class Misuse { other_memory, no_such_rank, after_end };

__global__ void misuse_mapping(Misuse misuse, unsigned* global) {
  unsigned* mine = dynamic_shared<unsigned>();
  const cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  if (misuse == Misuse::other_memory) (void)cluster.map_shared_rank(global, 1);
  if (misuse == Misuse::no_such_rank) (void)cluster.map_shared_rank(mine, 2);
  if (misuse == Misuse::after_end && blockIdx.x == 1) {
    while (true) {
      (void)cluster.map_shared_rank(mine, 0);
      __nanosleep(10);
    }
  }
}

TEST(ClusterGroup, RefusesWhatCannotBeMapped) {
  const auto message = [](Misuse misuse) {
    unsigned global = 0;
    return error_of([&] {
      launch(misuse_mapping, {.grid = 2, .block = 1, .shared_bytes = 16, .cluster = {2, 1, 1}},
             misuse, &global);
    });
  };
  EXPECT_THAT(message(Misuse::other_memory),
              AllOf(HasSubstr("block_group_test.cu"),
                    HasSubstr("not in the 16 bytes of dynamic shared memory")));
  EXPECT_THAT(message(Misuse::no_such_rank),
              HasSubstr("rank 2 is not one of the 2 blocks of the cluster"));
  EXPECT_THAT(message(Misuse::after_end), HasSubstr("block 0 of the cluster is not running"));
}

__global__ void leave_shared_address(std::uintptr_t* out) {
  out[blockIdx.x] = reinterpret_cast<std::uintptr_t>(dynamic_shared<int>());
}

TEST(SharedMemory, AddressesEndInTheOffset) {
  Stream stream;
  const DeviceBuffer<std::uintptr_t> out(4);
  launch(leave_shared_address, {.grid = 4, .block = 1, .shared_bytes = 4, .stream = &stream},
         out.data());
  for (const std::uintptr_t address : out.to_host(stream)) EXPECT_EQ(address % (1 << 18), 0u);
}

} // namespace
} // namespace kg::executor
