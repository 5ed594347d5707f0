// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that hand data over without a barrier of the block: right ways, which must not be called
// races, and the same with a step left out, which must.
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include "instructions/named_barrier.h"
#include "runtime/cooperative_groups.h"

namespace kg::test {
namespace {

namespace cg = cooperative_groups;

class Handovers : public Checkers {};
INSTANTIATE_TEST_SUITE_P(Orders, Handovers, kOrders, order_name);

// The last block to finish adds up what all have left, by a ticket (CUDA C++ Programming Guide,
// "Memory Fence Functions").
__global__ void last_block_sums(const int* values, int* partial, unsigned* ticket, int* sum,
                                bool with_fence, bool with_barrier) {
  __shared__ bool last;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 2) partial[2 * blockIdx.x + threadIdx.x] = values[i];
  if (with_barrier) __syncthreads();
  if (threadIdx.x == 0) {
    if (with_fence) __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 1) return;
  int total = 0;
  for (unsigned b = 0; b < 2 * gridDim.x; ++b) total += partial[b];
  *sum = total;
  *ticket = 0; // all have drawn theirs
}

TEST_P(Handovers, LastBlock) {
  const auto values = filled<int>(8 * 32, 1);
  const DeviceBuffer<int> partial(16);
  const auto ticket = filled<unsigned>(1);
  const DeviceBuffer<int> sum(1);
  const auto run = [&](bool fence, bool barrier) {
    fill_bytes(ticket.data(), 0, sizeof(unsigned), stream_);
    return finding(last_block_sums, {8, 32}, values.data(), partial.data(), ticket.data(),
                   sum.data(), fence, barrier);
  };
  EXPECT_THAT(run(true, true), IsEmpty());
  EXPECT_EQ(sum.to_host(stream_)[0], 16);
  EXPECT_THAT(run(false, true), HasSubstr("[race]"));
  // Thread 0's fence says nothing of what thread 1 has written.
  EXPECT_THAT(run(true, false), HasSubstr("[race]"));
}

// The same where those who fence meet before one of them signals; `fencing` threads do.
__global__ void fenced_block_sums(const int* values, int* partial, unsigned* ticket, int* sum,
                                  unsigned fencing) {
  __shared__ bool last;
  partial[blockIdx.x * blockDim.x + threadIdx.x] = values[threadIdx.x];
  if (threadIdx.x < fencing) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last || threadIdx.x != 1) return;
  int total = 0;
  for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) total += partial[i];
  *sum = total;
}

TEST_P(Handovers, FencesOfAllBeforeABarrier) {
  const auto values = filled<int>(64, 1);
  const DeviceBuffer<int> partial(4 * 64);
  const auto ticket = filled<unsigned>(1);
  const DeviceBuffer<int> sum(1);
  const auto run = [&](unsigned fencing) {
    return finding(fenced_block_sums, {4, 64}, values.data(), partial.data(), ticket.data(),
                   sum.data(), fencing);
  };
  EXPECT_THAT(run(64), IsEmpty());
  EXPECT_EQ(sum.to_host(stream_)[0], 256);
  EXPECT_THAT(run(63), HasSubstr("[race]"));
  EXPECT_THAT(run(1), HasSubstr("[race]"));
}

// A lock that lanes of a warp look at as volatile and take by an atomic operation, or do not.
__global__ void volatile_lock(volatile int* lock, int* counter, bool taken_atomically) {
  for (bool done = false; !done;) {
    if (*lock == 0) {
      if (taken_atomically ? atomicCAS(const_cast<int*>(lock), 0, 1) == 0 : true) {
        *counter = *counter + 1;
        __threadfence();
        *lock = 0;
        done = true;
      }
    }
  }
}

TEST_P(Handovers, VolatileLockOfLanes) {
  const auto lock = filled<int>(1);
  const auto counter = filled<int>(1);
  EXPECT_THAT(finding(volatile_lock, {1, 32}, lock.data(), counter.data(), true), IsEmpty());
  EXPECT_EQ(counter.to_host(stream_)[0], 32);
  // Lane after lane, each sees that the one before has left.
  const bool interleaved = GetParam().order == ThreadOrder::random;
  EXPECT_THAT(finding(volatile_lock, {1, 32}, lock.data(), counter.data(), false),
              interleaved ? testing::Matcher<std::string>(HasSubstr("[race]"))
                          : testing::Matcher<std::string>(IsEmpty()));
}

// Lanes build a chain as HeCBench's bh builds its tree: each claims a place, and publishes it by a
// volatile store to whoever walks the chain. No word is accessed but by volatile and atomically.
__global__ void volatile_chain(volatile int* next, int* places) {
  int at = 0;
  for (;;) {
    const int found = next[at];
    if (found > 0) {
      at = found;
    } else if (found == 0 && atomicCAS(const_cast<int*>(&next[at]), 0, -1) == 0) {
      const int place = atomicAdd(places, 1) + 1;
      next[place] = 0;
      next[at] = place;
      return;
    }
  }
}

TEST_P(Handovers, VolatilePointersOfLanes) {
  const auto next = filled<int>(65);
  const auto places = filled<int>(1);
  EXPECT_THAT(finding(volatile_chain, {2, 32}, next.data(), places.data()), IsEmpty());
  EXPECT_EQ(places.to_host(stream_)[0], 64);
}

// A sum up a tree, as in bh: a lane waits until its two children have theirs.
__global__ void volatile_tree(volatile int* sums, bool in_shared) {
  __shared__ volatile int mine[64];
  volatile int* const at = in_shared ? mine : sums;
  const int node = static_cast<int>(threadIdx.x); // children 2 node and 2 node + 1
  const int leaf = node == 0 || node >= 16 ? 1 : 0;
  at[node] = leaf;
  at[node + 32] = leaf;
  __syncthreads();
  if (node == 0 || node >= 16) return;
  while (at[2 * node] == 0 || at[2 * node + 1] == 0) {
  }
  at[node] = at[2 * node] + at[2 * node + 1];
}

TEST_P(Handovers, VolatileSumsOfLanes) {
  const auto sums = filled<int>(64);
  EXPECT_THAT(finding(volatile_tree, {1, 32}, sums.data(), false), IsEmpty());
  EXPECT_EQ(sums.to_host(stream_)[1], 16);
  // In shared memory it would be that of lanes that trust each other to run in step.
  EXPECT_THAT(finding(volatile_tree, {1, 32}, sums.data(), true), HasSubstr("[race]"));
}

__global__ void locked_add(int* lock, int* counter, bool with_fence) {
  if (threadIdx.x % 32 != 0) return; // one per warp
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(100);
  *counter = *counter + 1;
  if (with_fence) __threadfence();
  atomicExch(lock, 0);
}

TEST_P(Handovers, SpinLock) {
  const auto lock = filled<int>(1);
  const auto counter = filled<int>(1);
  EXPECT_THAT(finding(locked_add, {3, 128}, lock.data(), counter.data(), true), IsEmpty());
  EXPECT_EQ(counter.to_host(stream_)[0], 12);
  EXPECT_THAT(finding(locked_add, {3, 128}, lock.data(), counter.data(), false),
              HasSubstr("[race]"));
}

// Each block waits for the one before it, by a volatile flag.
__global__ void chain(int* data, volatile int* flags, bool with_fence) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) __nanosleep(10);
    data[blockIdx.x] = data[blockIdx.x - 1] + 1;
  } else {
    data[0] = 1;
  }
  if (with_fence) __threadfence();
  flags[blockIdx.x] = 1;
}

TEST_P(Handovers, VolatileFlagsBetweenBlocks) {
  const auto flags = filled<int>(6);
  const DeviceBuffer<int> data(6);
  EXPECT_THAT(finding(chain, {6, 32}, data.data(), flags.data(), true), IsEmpty());
  EXPECT_EQ(data.to_host(stream_)[5], 6);
  fill_bytes(flags.data(), 0, 24, stream_);
  EXPECT_THAT(finding(chain, {6, 32}, data.data(), flags.data(), false), HasSubstr("[race]"));
}

// A fence of block scope does not reach another block.
__global__ void flag_within_or_across(int* data, int* flag, int* out, bool across,
                                      bool block_fence) {
  const bool producer = across ? blockIdx.x == 0 && threadIdx.x == 0 : threadIdx.x == 0;
  const bool consumer = across ? blockIdx.x == 1 && threadIdx.x == 0 : threadIdx.x == 32;
  if (producer) {
    *data = 5;
    if (block_fence) {
      __threadfence_block();
    } else {
      __threadfence();
    }
    atomicExch(flag, 1);
  }
  if (consumer) {
    while (atomicAdd(flag, 0) == 0) __nanosleep(10);
    *out = *data;
  }
}

TEST_P(Handovers, ScopeOfAFence) {
  const DeviceBuffer<int> data(1);
  const auto flag = filled<int>(1);
  const DeviceBuffer<int> out(1);
  const auto run = [&](unsigned blocks, bool across, bool block_fence) {
    fill_bytes(flag.data(), 0, sizeof(int), stream_);
    return finding(flag_within_or_across, {blocks, 64}, data.data(), flag.data(), out.data(),
                   across, block_fence);
  };
  EXPECT_THAT(run(1, false, true), IsEmpty());
  EXPECT_THAT(run(1, false, false), IsEmpty());
  EXPECT_THAT(run(2, true, false), IsEmpty());
  EXPECT_THAT(run(2, true, true), HasSubstr("[race]"));
}

// Two warps produce, two consume, in rounds; a barrier each for "full" and "empty".
__global__ void named_pipeline(int* out, int rounds, bool wait_full, bool wait_empty) {
  __shared__ int stage[64];
  constexpr int kFull = 1;
  constexpr int kEmpty = 2;
  const unsigned lane = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int round = 0; round < rounds; ++round) {
      if (wait_empty && round > 0) ptx::named_barrier_sync(kEmpty, 128);
      stage[lane] = round + static_cast<int>(lane);
      if (wait_full) ptx::named_barrier_arrive(kFull, 128);
    }
  } else {
    for (int round = 0; round < rounds; ++round) {
      if (wait_full) ptx::named_barrier_sync(kFull, 128);
      out[round * 64 + static_cast<int>(lane)] = stage[63 - lane];
      if (wait_empty && round + 1 < rounds) ptx::named_barrier_arrive(kEmpty, 128);
    }
  }
}

TEST_P(Handovers, NamedBarriers) {
  const DeviceBuffer<int> out(5 * 64);
  EXPECT_THAT(finding(named_pipeline, {1, 128}, out.data(), 5, true, true), IsEmpty());
  EXPECT_EQ(out.to_host(stream_)[4 * 64 + 60], 4 + 3);
  // Whether the write or the read comes first, the other is a fault.
  EXPECT_THAT(finding(named_pipeline, {1, 128}, out.data(), 1, false, false),
              AnyOf(HasSubstr("[race]"), HasSubstr("[uninitialised]")));
  EXPECT_THAT(finding(named_pipeline, {1, 128}, out.data(), 2, false, true), HasSubstr("[race]"));
}

__global__ void grid_neighbours(int* values, int* out, bool sync) {
  const auto grid = cg::this_grid();
  values[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(blockIdx.x);
  if (sync) grid.sync();
  const unsigned next = (blockIdx.x + 1) % gridDim.x;
  out[blockIdx.x * blockDim.x + threadIdx.x] = values[next * blockDim.x + threadIdx.x];
}

TEST_P(Handovers, CooperativeGrid) {
  const auto values = filled<int>(4 * 40);
  const DeviceBuffer<int> out(4 * 40);
  const LaunchConfig config{.grid = 4, .block = 40, .cooperative = true};
  EXPECT_THAT(finding(grid_neighbours, config, values.data(), out.data(), true), IsEmpty());
  EXPECT_EQ(out.to_host(stream_)[3 * 40], 0);
  EXPECT_THAT(finding(grid_neighbours, config, values.data(), out.data(), false),
              HasSubstr("[race]"));
}

__global__ void cluster_neighbours(int* out, bool sync) {
  auto* const mine = dynamic_shared<int>();
  const auto cluster = cg::this_cluster();
  mine[threadIdx.x] = static_cast<int>(100 * cluster.block_rank() + threadIdx.x);
  cluster.sync(); // all blocks run from here on
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int* const theirs = cluster.map_shared_rank(mine, next);
  if (!sync) mine[threadIdx.x] += 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = theirs[threadIdx.x];
  cluster.sync(); // all shared memory lives until here
}

TEST_P(Handovers, Cluster) {
  const DeviceBuffer<int> out(4 * 32);
  const LaunchConfig config{.grid = 4, .block = 32, .shared_bytes = 128, .cluster = {2, 1, 1}};
  EXPECT_THAT(finding(cluster_neighbours, config, out.data(), true), IsEmpty());
  EXPECT_EQ(out.to_host(stream_)[5], 105);
  EXPECT_THAT(finding(cluster_neighbours, config, out.data(), false), HasSubstr("[race]"));
}

// What one block or cluster hands over at its barriers orders nothing in the next one, although it
// runs later and in the same memory here.
enum class Meets { named_barrier, cluster_barrier };

__global__ void write_between_barriers(int* out, Meets meets) {
  const auto meet = [&] {
    if (meets == Meets::named_barrier) ptx::named_barrier_sync(1, 64);
    if (meets == Meets::cluster_barrier) cg::this_cluster().sync();
  };
  meet();
  if (threadIdx.x == 0 && blockIdx.x % 2 == 0) out[0] = static_cast<int>(blockIdx.x);
  meet();
}

TEST_P(Handovers, NotFromOneBlockToTheNext) {
  const DeviceBuffer<int> out(1);
  EXPECT_THAT(finding(write_between_barriers, {4, 64}, out.data(), Meets::named_barrier),
              HasSubstr("[race]"));
}

TEST_P(Handovers, NotFromOneClusterToTheNext) {
  const DeviceBuffer<int> out(1);
  const LaunchConfig config{.grid = 4, .block = 64, .cluster = {2, 1, 1}};
  EXPECT_THAT(finding(write_between_barriers, config, out.data(), Meets::cluster_barrier),
              HasSubstr("[race]"));
}

} // namespace
} // namespace kg::test
