// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Barriers of a block: __syncthreads and its votes, threads that have exited, named barriers.
#include "instructions/named_barrier.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace kg::executor {

constexpr int kFirstBarrierLine = __LINE__ + 4;
constexpr int kSecondBarrierLine = kFirstBarrierLine + 2;
__global__ void diverges(unsigned boundary) {
  if (threadIdx.x < boundary) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

constexpr unsigned kBlockSizes[] = {1, 31, 32, 33, 256, 1000, 1024};

// --- __syncthreads ---

__global__ void rotate(unsigned rounds, unsigned* out) {
  __shared__ unsigned values[2][1024];
  const unsigned n = blockDim.x;
  unsigned mine = threadIdx.x;
  for (unsigned round = 0; round < rounds; ++round) {
    values[round % 2][threadIdx.x] = mine;
    __syncthreads();
    mine = values[round % 2][(threadIdx.x + 1) % n];
  }
  out[blockIdx.x * n + threadIdx.x] = mine;
}

TEST(Barrier, OrdersSharedMemory) {
  under_every_order([] {
    for (unsigned n : kBlockSizes) {
      for (unsigned rounds : {1u, 2u, 7u}) {
        const auto out = filled<unsigned>(3 * n, [&](unsigned* data, Stream& stream) {
          launch(rotate, {.grid = 3, .block = n, .stream = &stream}, rounds, data);
        });
        for (unsigned i = 0; i < out.size(); ++i) {
          ASSERT_EQ(out[i], (i % n + rounds) % n) << n << " threads, " << rounds << " rounds";
        }
      }
    }
  });
}

// A reduction whose last barrier is missing, and the correct one.
__global__ void sum_tree(bool with_barrier, unsigned* out) {
  __shared__ unsigned values[256];
  values[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  for (unsigned step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) values[threadIdx.x] += values[threadIdx.x + step];
    if (with_barrier) __syncthreads();
  }
  if (threadIdx.x == 0) *out = values[0];
}

TEST(Barrier, MissingOneShowsInSomeOrder) {
  int wrong = 0;
  for (const Schedule& schedule :
       {Schedule{ThreadOrder::forward}, Schedule{ThreadOrder::random, 1}}) {
    const ScopedSchedule scope(schedule);
    unsigned sum = 0;
    launch(sum_tree, {.grid = 1, .block = 256}, false, &sum);
    wrong += sum != 256 * 257 / 2;
    launch(sum_tree, {.grid = 1, .block = 256}, true, &sum);
    EXPECT_EQ(sum, 256u * 257 / 2);
  }
  EXPECT_GE(wrong, 1);
}

__global__ void early_exit(unsigned stay, unsigned rounds, unsigned* out) {
  __shared__ unsigned arrived;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  if (threadIdx.x >= stay) return;
  for (unsigned round = 1; round <= rounds; ++round) {
    atomicAdd(&arrived, 1);
    __syncthreads();
    out[threadIdx.x] = arrived; // stay * round, unless someone ran ahead or was waited for in vain
    __syncthreads();
  }
}

TEST(Barrier, DoesNotWaitForThreadsThatExited) {
  under_every_order([] {
    for (unsigned stay : {1u, 5u, 32u, 63u}) {
      const auto out = filled<unsigned>(stay, [&](unsigned* data, Stream& stream) {
        launch(early_exit, {.grid = 1, .block = 64, .stream = &stream}, stay, 3, data);
      });
      EXPECT_THAT(out, Each(3 * stay)) << stay << " of 64 threads stay";
    }
  });
}

// Threads wait at the barrier first, then the others exit: the last exit opens it.
__global__ void wait_for_exits(unsigned* waiting, unsigned* out) {
  if (threadIdx.x % 2 == 0) {
    while (atomicAdd(waiting, 0) < blockDim.x / 2) __nanosleep(10);
    return;
  }
  atomicAdd(waiting, 1);
  __syncthreads();
  out[threadIdx.x / 2] = 7;
}

TEST(Barrier, OpensWhenTheLastMissingThreadExits) {
  under_every_order([] {
    unsigned waiting = 0;
    const auto out = filled<unsigned>(50, [&](unsigned* data, Stream& stream) {
      launch(wait_for_exits, {.grid = 1, .block = 100, .stream = &stream}, &waiting, data);
    });
    EXPECT_THAT(out, Each(7u));
  });
}

// --- Votes ---

struct Votes {
  int count, any, all;
};

// Threads below `yes` bring a predicate that is true (and neither 1 nor small), the others 0.
__global__ void vote(unsigned yes, unsigned stay, Votes* out) {
  if (threadIdx.x >= stay) return;
  const int predicate = threadIdx.x < yes ? -256 : 0;
  for (int round = 0; round < 2; ++round) {
    out[threadIdx.x].count = __syncthreads_count(predicate);
    out[threadIdx.x].any = __syncthreads_or(predicate);
    out[threadIdx.x].all = __syncthreads_and(predicate);
  }
}

TEST(BarrierVotes, CountAnyAndAll) {
  under_every_order([] {
    for (unsigned stay : {75u, 40u}) {
      for (unsigned yes : {0u, 1u, 39u, 40u, 74u, 75u}) {
        const auto out = filled<Votes>(stay, [&](Votes* data, Stream& stream) {
          launch(vote, {.grid = 1, .block = 75, .stream = &stream}, yes, stay, data);
        });
        for (const Votes& votes : out) {
          EXPECT_EQ(votes.count, static_cast<int>(std::min(yes, stay)));
          EXPECT_EQ(votes.any != 0, yes > 0);
          EXPECT_EQ(votes.all != 0, yes >= stay) << yes << " of " << stay;
        }
      }
    }
  });
}

// --- Divergent barriers ---

TEST(BarrierDivergence, NamesTheThreadAndBothLines) {
  const ScopedSchedule scope({ThreadOrder::forward});
  EXPECT_THAT(error_of([] { launch(diverges, {.grid = 2, .block = {64}}, 5); }),
              AllOf(HasSubstr("divergent barrier in kernel kg::executor::diverges, block (0,0,0)"),
                    HasSubstr("thread (5,0,0) met __syncthreads at"),
                    HasSubstr(place("barrier_test.cu", kSecondBarrierLine) + " while 5 threads"),
                    HasSubstr("wait in a barrier at"),
                    HasSubstr(place("barrier_test.cu", kFirstBarrierLine) + ";")));
}

TEST(BarrierDivergence, IsFoundInEveryOrder) {
  under_every_order([] {
    EXPECT_THAT(error_of([] { launch(diverges, {.grid = 1, .block = 64}, 5); }),
                HasSubstr("divergent barrier"));
    EXPECT_EQ(error_of([] { launch(diverges, {.grid = 1, .block = 64}, 64); }), "");
    EXPECT_EQ(error_of([] { launch(diverges, {.grid = 1, .block = 64}, 0); }), "");
  });
}

TEST(BarrierDivergence, WholeWarpsMayMeetFromTwoPlaces) {
  under_every_order([] {
    EXPECT_EQ(error_of([] { launch(diverges, {.grid = 2, .block = 96}, 32); }), "");
    EXPECT_THAT(error_of([] { launch(diverges, {.grid = 2, .block = 96}, 33); }),
                HasSubstr("divergent barrier"));
  });
}

TEST(Barrier, OutsideAKernelIsAnError) {
  EXPECT_THAT(
      error_of([] { __syncthreads(); }),
      AllOf(HasSubstr("barrier_test.cu"), HasSubstr("__syncthreads was called outside a kernel")));
}

// --- Named barriers ---

// Warp 0 produces into two buffers, warps 1 and 2 consume: barriers 1 and 2 say that a buffer is
// full, 3 and 4 that it is empty. Full and empty need everyone's arrival: 96 threads.
__global__ void produce_consume(int rounds, int* out) {
  __shared__ int buffer[2][32];
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const int b = round % 2;
    if (warp == 0) {
      if (round >= 2) ptx::named_barrier_sync(3 + b, 96);
      buffer[b][lane] = round * 100 + lane;
      ptx::named_barrier_arrive(1 + b, 96);
    } else {
      ptx::named_barrier_sync(1 + b, 96);
      sum += buffer[b][31 - lane];
      ptx::named_barrier_arrive(3 + b, 96);
    }
  }
  if (warp != 0) out[threadIdx.x - 32] = sum;
}

TEST(NamedBarrier, JoinsProducersAndConsumers) {
  under_every_order([] {
    const auto out = filled<int>(64, [](int* data, Stream& stream) {
      launch(produce_consume, {.grid = 1, .block = 96, .stream = &stream}, 10, data);
    });
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(out[static_cast<std::size_t>(i)], 4500 + 10 * (31 - i % 32)) << i;
    }
  });
}

// Two halves of a block synchronise on their own, a different number of times, then all together.
__global__ void two_halves(int* out) {
  __shared__ int values[128];
  const int half = static_cast<int>(threadIdx.x / 64);
  const int rank = static_cast<int>(threadIdx.x % 64);
  int mine = rank;
  for (int round = 0; round < 3 + 2 * half; ++round) {
    values[half * 64 + rank] = mine;
    ptx::named_barrier_sync(14 + half, 64);
    mine = values[half * 64 + (rank + 1) % 64];
    ptx::named_barrier_sync(14 + half, 64);
  }
  __syncthreads();
  out[threadIdx.x] = mine;
}

TEST(NamedBarrier, GroupsAreIndependent) {
  under_every_order([] {
    const auto out = filled<int>(128, [](int* data, Stream& stream) {
      launch(two_halves, {.grid = 1, .block = 128, .stream = &stream}, data);
    });
    for (int i = 0; i < 128; ++i) {
      EXPECT_EQ(out[static_cast<std::size_t>(i)], (i % 64 + (i < 64 ? 3 : 5)) % 64) << i;
    }
  });
}

__global__ void named_barrier_with(int id, int threads) { ptx::named_barrier_sync(id, threads); }

TEST(NamedBarrier, RefusesImpossibleOperands) {
  const auto message = [](int id, int threads) {
    return error_of([&] { launch(named_barrier_with, {.grid = 1, .block = 64}, id, threads); });
  };
  EXPECT_EQ(message(15, 64), "");
  EXPECT_THAT(message(16, 64),
              HasSubstr("named barrier 16 for 64 threads; the id must be below 16"));
  EXPECT_THAT(message(1, 40), HasSubstr("a positive multiple of 32"));
  EXPECT_THAT(message(1, 0), HasSubstr("a positive multiple of 32"));
  EXPECT_THAT(message(-1, 32), HasSubstr("the id must be below 16"));
}

__global__ void named_barrier_counts_differ() {
  ptx::named_barrier_sync(2, threadIdx.x < 32 ? 64 : 96);
}

TEST(NamedBarrier, RefusesCountsThatDiffer) {
  under_every_order([] {
    EXPECT_THAT(error_of([] { launch(named_barrier_counts_differ, {.grid = 1, .block = 96}); }),
                AllOf(HasSubstr("named barrier 2 for"), HasSubstr("others came for")));
  });
}

TEST(NamedBarrier, MissingThreadsAreADeadlock) {
  EXPECT_THAT(error_of([] { launch(named_barrier_with, {.grid = 1, .block = 64}, 3, 96); }),
              AllOf(HasSubstr("deadlock"), HasSubstr("threads 0..63 wait in named barrier 3 at")));
}

} // namespace
} // namespace kg::executor
