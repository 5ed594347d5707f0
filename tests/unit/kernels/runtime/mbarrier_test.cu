// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// mbarriers: phases, tokens, bytes, and what a kernel that uses them wrongly is told.
#include "instructions/cp_async.h"
#include "instructions/mbarrier.h"
#include "instructions/st_async.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <gmock/gmock.h>

namespace kg::executor {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

// --- Phases ---

// What try_wait says for either parity, after 0, 1, 2, ... arrivals at a barrier of two.
__global__ void watch_phases(int* out) {
  __shared__ std::uint64_t barrier;
  ptx::mbarrier_init(&barrier, 2);
  for (int arrivals = 0; arrivals < 6; ++arrivals) {
    *out++ = ptx::mbarrier_try_wait_parity(&barrier, 0);
    *out++ = ptx::mbarrier_try_wait_parity(&barrier, 1);
    const ptx::MbarrierToken token = ptx::mbarrier_arrive(&barrier);
    *out++ = ptx::mbarrier_try_wait(&barrier, token);
  }
}

TEST(Mbarrier, PhasesHaveParities) {
  under_every_order([] {
    std::vector<int> out(18, -1);
    launch(watch_phases, {.grid = 1, .block = 1}, out.data());
    EXPECT_THAT(out, ElementsAreArray({0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1}));
  });
}

__global__ void count_and_drop(int* out) {
  __shared__ std::uint64_t barrier;
  const auto ended = [&](unsigned parity) {
    return ptx::mbarrier_try_wait_parity(&barrier, parity);
  };
  ptx::mbarrier_init(&barrier, 5);
  ptx::mbarrier_arrive(&barrier, 3);
  *out++ = ended(0); // 3 of 5
  ptx::mbarrier_arrive_drop(&barrier);
  ptx::mbarrier_arrive(&barrier);
  *out++ = ended(0); // 5 of 5; the next phase expects 4
  ptx::mbarrier_arrive(&barrier, 3);
  *out++ = ended(1); // 3 of 4
  ptx::mbarrier_arrive(&barrier);
  *out++ = ended(1);
  ptx::mbarrier_inval(&barrier);
  ptx::mbarrier_init(&barrier, 1);
  *out++ = ended(0); // begins anew
}

TEST(Mbarrier, CountsArrivalsAndDrops) {
  std::vector<int> out(5, -1);
  launch(count_and_drop, {.grid = 1, .block = 1}, out.data());
  EXPECT_THAT(out, ElementsAreArray({0, 1, 0, 1, 0}));
}

__global__ void count_bytes(int* out) {
  __shared__ std::uint64_t barrier;
  const auto ended = [&](unsigned parity) {
    return ptx::mbarrier_try_wait_parity(&barrier, parity);
  };
  ptx::mbarrier_init(&barrier, 1);
  ptx::mbarrier_arrive_expect_tx(&barrier, 96);
  *out++ = ended(0); // arrived, but 96 bytes to come
  ptx::mbarrier_complete_tx(&barrier, 64);
  *out++ = ended(0);
  ptx::mbarrier_complete_tx(&barrier, 32);
  *out++ = ended(0);
  ptx::mbarrier_complete_tx(&barrier, 8); // before they are expected
  ptx::mbarrier_expect_tx(&barrier, 8);
  *out++ = ended(1); // nothing pending but the arrival
  ptx::mbarrier_arrive(&barrier);
  *out++ = ended(1);
}

TEST(Mbarrier, CountsBytes) {
  std::vector<int> out(5, -1);
  launch(count_bytes, {.grid = 1, .block = 1}, out.data());
  EXPECT_THAT(out, ElementsAreArray({0, 0, 1, 0, 1}));
}

// --- Waiting ---

// A ring of stages: one warp fills them, the others each read all of every stage.
__global__ void ring(unsigned stages, unsigned tiles, bool wait_for_empty, unsigned* out) {
  __shared__ std::uint64_t full[4], empty[4];
  __shared__ unsigned stage[4][32];
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned consumers = blockDim.x - 32;
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < stages; ++s) {
      ptx::mbarrier_init(&full[s], 32);
      ptx::mbarrier_init(&empty[s], consumers);
    }
  }
  __syncthreads();
  unsigned sum = 0;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const unsigned s = tile % stages;
    const unsigned parity = tile / stages % 2;
    if (warp == 0) {
      if (wait_for_empty) ptx::mbarrier_wait_parity(&empty[s], parity ^ 1);
      stage[s][lane] = 100 * tile + lane;
      ptx::mbarrier_arrive(&full[s]);
    } else {
      ptx::mbarrier_wait_parity(&full[s], parity);
      for (unsigned i = 0; i < 32; ++i) sum += (i + 1) * stage[s][i];
      ptx::mbarrier_arrive(&empty[s]);
    }
  }
  if (warp != 0) out[threadIdx.x - 32] = sum;
}

TEST(Mbarrier, JoinsProducersAndConsumersInARing) {
  under_every_order([] {
    for (unsigned stages : {1u, 2u, 4u}) {
      std::vector<unsigned> out(96);
      launch(ring, {.grid = 1, .block = 128}, stages, 9, true, out.data());
      unsigned expected = 0;
      for (unsigned tile = 0; tile < 9; ++tile) {
        for (unsigned i = 0; i < 32; ++i) expected += (i + 1) * (100 * tile + i);
      }
      EXPECT_THAT(out, Each(expected)) << stages << " stages";
    }
  });
}

// A producer that does not wait for the stage to be empty laps the consumers: it arrives more often
// than a phase allows, or its tiles are overwritten.
TEST(Mbarrier, AProducerThatDoesNotWaitShows) {
  under_every_order([] {
    std::vector<unsigned> out(96), right(96);
    launch(ring, {.grid = 1, .block = 128}, 2, 9, true, right.data());
    const std::string message =
        error_of([&] { launch(ring, {.grid = 1, .block = 128}, 2, 9, false, out.data()); });
    EXPECT_TRUE(!message.empty() || out != right);
  });
}

__global__ void poll(unsigned* out) {
  __shared__ std::uint64_t barrier;
  __shared__ unsigned value;
  if (threadIdx.x == 0) ptx::mbarrier_init(&barrier, 1);
  __syncthreads();
  if (threadIdx.x == 40) {
    value = 11;
    ptx::mbarrier_arrive(&barrier);
  }
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  out[threadIdx.x] = value;
}

TEST(Mbarrier, CanBePolled) {
  under_every_order([] {
    std::vector<unsigned> out(64);
    launch(poll, {.grid = 1, .block = 64}, out.data());
    EXPECT_THAT(out, Each(11u));
  });
}

// --- With asynchronous copies ---

__global__ void arrive_by_copy(bool counted, const unsigned* in, unsigned* out) {
  __shared__ std::uint64_t barrier;
  __shared__ unsigned stage[32];
  if (threadIdx.x == 0) ptx::mbarrier_init(&barrier, 32);
  __syncthreads();
  if (threadIdx.x < 32) { // and leave
    ptx::cp_async_ca<4>(&stage[threadIdx.x], &in[threadIdx.x]);
    if (counted) {
      ptx::cp_async_mbarrier_arrive_noinc(&barrier);
    } else {
      ptx::cp_async_mbarrier_arrive(&barrier);
      ptx::mbarrier_arrive(&barrier);
    }
  } else {
    ptx::mbarrier_wait_parity(&barrier, 0);
    out[threadIdx.x - 32] = stage[63 - threadIdx.x];
  }
}

TEST(Mbarrier, IsArrivedAtByCopies) {
  std::vector<unsigned> in(32), reversed(32);
  for (unsigned i = 0; i < 32; ++i) in[i] = reversed[31 - i] = 5 * i;
  under_every_order([&] {
    for (bool counted : {true, false}) {
      std::vector<unsigned> out(32);
      launch(arrive_by_copy, {.grid = 1, .block = 64}, counted, in.data(), out.data());
      EXPECT_EQ(out, reversed);
    }
  });
}

// --- Clusters ---

// Each block waits until every block of the cluster has written into its shared memory.
__global__ void gather_from_cluster(unsigned* out) {
  namespace cg = cooperative_groups;
  const cg::cluster_group cluster = cg::this_cluster();
  auto* barrier = dynamic_shared<std::uint64_t>();
  auto* received = dynamic_shared<unsigned>(sizeof(std::uint64_t));
  if (threadIdx.x == 0) ptx::mbarrier_init(barrier, cluster.num_blocks());
  cluster.sync();
  if (threadIdx.x < cluster.num_blocks()) {
    cluster.map_shared_rank(received, threadIdx.x)[cluster.block_rank()] = 10 + blockIdx.x;
    ptx::mbarrier_arrive_cluster(barrier, threadIdx.x);
  }
  ptx::mbarrier_wait_parity(barrier, 0);
  unsigned sum = 0;
  for (unsigned i = 0; i < cluster.num_blocks(); ++i) sum += received[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  cluster.sync();
}

TEST(Mbarrier, IsArrivedAtFromTheCluster) {
  under_every_order([] {
    std::vector<unsigned> out(4 * 32);
    launch(gather_from_cluster, {.grid = 4, .block = 32, .shared_bytes = 64, .cluster = {4, 1, 1}},
           out.data());
    EXPECT_THAT(out, Each(46u));
  });
}

// Each block sends two numbers to every block, and waits for theirs.
__global__ void send_to_cluster(float* out) {
  namespace cg = cooperative_groups;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned blocks = cluster.num_blocks();
  auto* barrier = dynamic_shared<std::uint64_t>();
  auto* received = reinterpret_cast<float2*>(barrier + 1);
  if (threadIdx.x == 0) ptx::mbarrier_init(barrier, 1);
  cluster.sync();
  if (threadIdx.x == 0)
    ptx::mbarrier_arrive_expect_tx(barrier, blocks * static_cast<unsigned>(sizeof(float2)));
  if (threadIdx.x < blocks)
    ptx::st_async(received + cluster.block_rank(),
                  make_float2(static_cast<float>(blockIdx.x), static_cast<float>(threadIdx.x)),
                  barrier, threadIdx.x);
  ptx::mbarrier_wait_parity(barrier, 0);
  float2 sum = make_float2(0, 0);
  for (unsigned i = 0; i < blocks; ++i) {
    sum.x += received[i].x;
    sum.y += received[i].y;
  }
  out[2 * blockIdx.x] = sum.x;
  out[2 * blockIdx.x + 1] = sum.y;
}

TEST(StAsync, ArrivesWithItsBytes) {
  under_every_order([] {
    std::vector<float> out(8);
    launch(send_to_cluster, {.grid = 4, .block = 32, .shared_bytes = 64, .cluster = {4, 1, 1}},
           out.data());
    EXPECT_THAT(out, ElementsAre(6, 0, 6, 4, 6, 8, 6, 12));
  });
}

// One block arrives nowhere; the others wait for it, each in its own shared memory or for all.
__global__ void one_does_not_arrive(bool sync_at_the_end) {
  namespace cg = cooperative_groups;
  const cg::cluster_group cluster = cg::this_cluster();
  auto* barrier = dynamic_shared<std::uint64_t>();
  if (threadIdx.x == 0) ptx::mbarrier_init(barrier, cluster.num_blocks());
  cluster.sync();
  if (cluster.block_rank() != 1 && threadIdx.x < cluster.num_blocks())
    ptx::mbarrier_arrive_cluster(barrier, threadIdx.x);
  if (cluster.block_rank() != 1 || !sync_at_the_end) ptx::mbarrier_wait_parity(barrier, 0);
  if (sync_at_the_end) cluster.sync();
}

TEST(Mbarrier, MissingArrivalFromTheClusterIsADeadlock) {
  under_every_order([] {
    for (bool sync_at_the_end : {true, false}) {
      EXPECT_THAT(
          error_of([&] {
            launch(one_does_not_arrive,
                   {.grid = 3, .block = 32, .shared_bytes = 64, .cluster = {3, 1, 1}},
                   sync_at_the_end);
          }),
          AllOf(HasSubstr("deadlock in kernel"), HasSubstr("threads 0..31 wait in mbarrier_wait")));
    }
  });
}

// --- Misuse ---

enum class Misuse {
  missing_arrival,
  polled_in_vain,
  slept_in_vain,
  not_initialised,
  invalidated,
  too_many,
  no_count,
  misaligned,
  missing_bytes
};

constexpr int kWaitLine = __LINE__ + 24;
__global__ void misuse(Misuse what) {
  __shared__ std::uint64_t words[2];
  std::uint64_t* barrier = words;
  if (what == Misuse::misaligned) {
    barrier = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(words) + 4);
  }
  if (threadIdx.x == 0) {
    words[0] = 0;
    if (what != Misuse::not_initialised)
      ptx::mbarrier_init(barrier, what == Misuse::no_count ? 0 : blockDim.x);
    if (what == Misuse::invalidated) ptx::mbarrier_inval(barrier);
  }
  __syncthreads();
  const bool polls = what == Misuse::polled_in_vain || what == Misuse::slept_in_vain;
  const bool skip = what == Misuse::missing_arrival || polls;
  if (!skip || threadIdx.x != 7) {
    const bool bytes = what == Misuse::missing_bytes && threadIdx.x == 0;
    ptx::mbarrier_arrive_expect_tx(barrier, bytes ? 4 : 0);
  }
  if (what == Misuse::too_many && threadIdx.x == 0) ptx::mbarrier_arrive(barrier, blockDim.x + 1);
  while (polls && !ptx::mbarrier_try_wait_parity(barrier, 0)) {
    if (what == Misuse::slept_in_vain) __nanosleep(20); // as libcu++'s barriers
  }
  ptx::mbarrier_wait_parity(barrier, 0);
}

TEST(Mbarrier, MisuseIsReported) {
  under_every_order([] {
    const auto message = [](Misuse what) {
      return error_of([&] { launch(misuse, {.grid = 1, .block = 40}, what); });
    };
    EXPECT_THAT(message(Misuse::missing_arrival),
                AllOf(HasSubstr("deadlock in kernel"),
                      HasSubstr("threads 0..39 wait in mbarrier_wait at"),
                      HasSubstr(place("mbarrier_test.cu", kWaitLine))));
    EXPECT_THAT(message(Misuse::polled_in_vain),
                AllOf(HasSubstr("deadlock in kernel"),
                      HasSubstr("threads 0..39 wait in mbarrier_try_wait at")));
    EXPECT_THAT(message(Misuse::slept_in_vain),
                AllOf(HasSubstr("deadlock in kernel"), HasSubstr("wait in __nanosleep at"),
                      HasSubstr("where 1 of 40 arrivals are missing")));
    EXPECT_THAT(message(Misuse::missing_bytes), HasSubstr("deadlock in kernel"));
    EXPECT_THAT(message(Misuse::not_initialised), HasSubstr("it was not initialized"));
    EXPECT_THAT(message(Misuse::invalidated), HasSubstr("it was invalidated"));
    EXPECT_THAT(message(Misuse::too_many), HasSubstr("41 arrivals, but the phase waits for"));
    EXPECT_THAT(message(Misuse::no_count), HasSubstr("count 0; it is 1 to 1048575"));
    EXPECT_THAT(message(Misuse::misaligned), HasSubstr("not aligned to 8 bytes"));
  });
}

} // namespace
} // namespace kg::executor
