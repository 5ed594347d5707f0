// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// In which order the executor runs threads and blocks, and the schedule that says so.
#include "tests/unit/kernels/runtime/executor_support.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>

namespace kg::executor {
namespace {

std::vector<unsigned> counted(unsigned size) {
  std::vector<unsigned> values(size);
  std::iota(values.begin(), values.end(), 0u);
  return values;
}

__global__ void log_arrival(unsigned* next, unsigned* log) {
  log[atomicAdd(next, 1)] = threadIdx.x;
}
__global__ void log_arrival_after_barrier(unsigned* next, unsigned* log) {
  __syncthreads();
  log[atomicAdd(next, 1)] = threadIdx.x;
}

std::vector<unsigned> arrivals(void (*kernel)(unsigned*, unsigned*), const Schedule& schedule,
                               unsigned threads) {
  const ScopedSchedule scope(schedule);
  unsigned next = 0;
  std::vector<unsigned> log(threads);
  launch(kernel, {.grid = 1, .block = threads}, &next, log.data());
  return log;
}

TEST(ThreadOrders, ForwardAndReverseStartThreadsByRank) {
  const std::vector<unsigned> forward = counted(70);
  const std::vector<unsigned> reverse(forward.rbegin(), forward.rend());
  EXPECT_EQ(arrivals(log_arrival, {ThreadOrder::forward}, 70), forward);
  EXPECT_EQ(arrivals(log_arrival, {ThreadOrder::reverse}, 70), reverse);
}

TEST(ThreadOrders, ReverseContinuesTheHighestThreadFirst) {
  // Forward, the last thread to arrive at the barrier goes on at once; the others follow by rank.
  std::vector<unsigned> forward = counted(70);
  std::rotate(forward.begin(), forward.end() - 1, forward.end());
  EXPECT_EQ(arrivals(log_arrival_after_barrier, {ThreadOrder::forward}, 70), forward);
  std::vector<unsigned> reverse = counted(70);
  std::reverse(reverse.begin() + 1, reverse.end());
  EXPECT_EQ(arrivals(log_arrival_after_barrier, {ThreadOrder::reverse}, 70), reverse);
}

TEST(ThreadOrders, RandomIsAPermutationThatItsSeedFixes) {
  for (const auto kernel : {log_arrival, log_arrival_after_barrier}) {
    const auto first = arrivals(kernel, {ThreadOrder::random, 7}, 200);
    EXPECT_EQ(arrivals(kernel, {ThreadOrder::random, 7}, 200), first);
    EXPECT_NE(arrivals(kernel, {ThreadOrder::random, 8}, 200), first);
    EXPECT_NE(first, arrivals(kernel, {ThreadOrder::forward}, 200));
    auto sorted = first;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, counted(200));
  }
}

__global__ void log_first_thread(unsigned* seen, unsigned* first) {
  if (atomicAdd(&seen[blockIdx.x], 1) == 0) first[blockIdx.x] = threadIdx.x;
}

TEST(ThreadOrders, RandomDiffersFromBlockToBlock) {
  const ScopedSchedule scope({ThreadOrder::random, 3});
  std::vector<unsigned> seen(64), first(64);
  launch(log_first_thread, {.grid = 64, .block = 256}, seen.data(), first.data());
  EXPECT_GT(std::set<unsigned>(first.begin(), first.end()).size(), 16u);
}

__global__ void log_block(unsigned* next, unsigned* log) {
  if (threadIdx.x == 0)
    log[atomicAdd(next, 1)] = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

TEST(BlockOrder, IsByIndex) {
  const ScopedSchedule scope({.workers = 1});
  unsigned next = 0;
  std::vector<unsigned> log(24);
  launch(log_block, {.grid = {4, 3, 2}, .block = 2}, &next, log.data());
  EXPECT_EQ(log, counted(24));
}

// Each block waits for the one before it, as a look-back scan does.
__global__ void chain(unsigned* done, unsigned* out) {
  if (threadIdx.x == 0) {
    while (blockIdx.x > 0 && atomicAdd(&done[blockIdx.x - 1], 0) == 0) __nanosleep(20);
    out[blockIdx.x] = blockIdx.x == 0 ? 1 : out[blockIdx.x - 1] + 1;
    __threadfence();
    atomicExch(&done[blockIdx.x], 1);
  }
  __syncthreads();
}

TEST(BlockOrder, ABlockMayWaitForAnEarlierOne) {
  for (int workers : {1, 2, 0}) {
    under_every_order([&] {
      Schedule schedule = kg::schedule();
      schedule.workers = workers;
      const ScopedSchedule scope(schedule);
      std::vector<unsigned> done(40), out(40);
      launch(chain, {.grid = 40, .block = 33}, done.data(), out.data());
      EXPECT_EQ(out.back(), 40u);
    });
  }
}

// --- The schedule ---

TEST(ScheduleSetting, IsSetForAScope) {
  const Schedule before = schedule();
  {
    const ScopedSchedule scope({ThreadOrder::random, 42, 3});
    EXPECT_EQ(schedule().order, ThreadOrder::random);
    EXPECT_EQ(schedule().seed, 42u);
    EXPECT_EQ(schedule().workers, 3);
    EXPECT_EQ(to_string(schedule()), "random:42");
  }
  EXPECT_EQ(to_string(schedule()), to_string(before));
  EXPECT_EQ(schedule().workers, before.workers);
  EXPECT_EQ(to_string({ThreadOrder::forward}), "forward");
  EXPECT_EQ(to_string({ThreadOrder::reverse}), "reverse");
}

// The variable is read once per process: each text gets a process of its own.
TEST(ScheduleDeathTest, StartsFromTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto print_schedule = [](const char* text) {
    setenv("KERNELGRADE_THREAD_ORDER", text, 1);
    std::fprintf(stderr, "got %s", error_of([] { throw Error(to_string(schedule())); }).c_str());
    std::exit(0);
  };
  EXPECT_EXIT(print_schedule("reverse"), testing::ExitedWithCode(0), "got reverse$");
  EXPECT_EXIT(print_schedule("random:99"), testing::ExitedWithCode(0), "got random:99$");
  EXPECT_EXIT(print_schedule("random:"), testing::ExitedWithCode(0),
              "KERNELGRADE_THREAD_ORDER is \"random:\"; use forward, reverse or random:<seed>");
  EXPECT_EXIT(print_schedule("random:18446744073709551616"), testing::ExitedWithCode(0),
              "a number below 2\\^64");
  EXPECT_EXIT(print_schedule("sideways"), testing::ExitedWithCode(0), "\"sideways\"; use forward");
}

} // namespace
} // namespace kg::executor
