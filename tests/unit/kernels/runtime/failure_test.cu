// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that fail: what the launch throws, and that the next launch works.
#include "tests/unit/kernels/runtime/executor_support.h"

#include <atomic>
#include <gmock/gmock.h>
#include <stdexcept>
#include <sys/resource.h>

namespace kg::executor {

namespace cg = cooperative_groups;

constexpr int kShuffleLine = __LINE__ + 5;
constexpr int kSyncthreadsLine = kShuffleLine + 3;
__global__ void deadlocks(unsigned exits) {
  if (threadIdx.x < exits) return;
  if (threadIdx.x < 8) {
    __shfl_sync(0xffffffffu, 1, 0);
    return;
  }
  __syncthreads();
}

constexpr int kTrapLine = __LINE__ + 2;
__global__ void traps() {
  if (blockIdx.x == 2 && threadIdx.y == 1) __trap();
}

// Block 0 fails last: a while after another block, in another OS thread, has got here (or never).
__global__ void all_trap(std::atomic<int>* other_failed) {
  if (blockIdx.x == 0) {
    for (int i = 0; *other_failed == 0 && i < 10'000'000;) i = i + 1;
    for (std::atomic<int> i = 0; i < 1'000'000;) ++i;
  }
  *other_failed = 1;
  __trap();
}

namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

__global__ void add_one(unsigned* data) {
  __syncthreads();
  data[threadIdx.x] += 1 + __shfl_xor_sync(0xffffffffu, 0u, 1);
}

void expect_launches_work() {
  std::vector<unsigned> data(96);
  for (int i = 0; i < 3; ++i) launch(add_one, {.grid = 1, .block = 96}, data.data());
  EXPECT_THAT(data, Each(3u));
}

// --- Deadlock ---

TEST(Deadlock, ReportNamesThreadsPlacesAndMask) {
  const ScopedSchedule scope({ThreadOrder::forward});
  const std::string report = error_of([] { launch(deadlocks, {.grid = 1, .block = 64}, 3); });
  EXPECT_THAT(report, AllOf(HasSubstr("deadlock in kernel kg::executor::deadlocks, block (0,0,0)"),
                            HasSubstr("threads 3..7 wait in __shfl_sync with mask 0xffffffff at"),
                            HasSubstr(place("failure_test.cu", kShuffleLine) +
                                      "; threads 8..63 wait in __syncthreads at"),
                            HasSubstr(place("failure_test.cu", kSyncthreadsLine) +
                                      "; 3 threads have exited")));
}

TEST(Deadlock, IsReportedInEveryOrderAndSurvived) {
  under_every_order([] {
    for (int i = 0; i < 20; ++i) {
      EXPECT_THAT(error_of([] { launch(deadlocks, {.grid = 3, .block = 64}, 3); }),
                  HasSubstr("threads 3..7 wait in __shfl_sync"));
      expect_launches_work();
    }
  });
}

// Lanes 0..15 never come back from a shuffle that the others do not join.
__global__ void starves() {
  if (threadIdx.x < 16) {
    __syncwarp();
  } else {
    __ballot_sync(0xffffffffu, 1);
  }
}

TEST(Deadlock, OfLanesInDifferentCollectives) {
  under_every_order([] {
    EXPECT_THAT(error_of([] { launch(starves, {.grid = 1, .block = 32}); }),
                AllOf(HasSubstr("threads 0..15 wait in __syncwarp"),
                      HasSubstr("threads 16..31 wait in __ballot_sync")));
  });
}

// --- Exceptions ---

struct Guard {
  std::atomic<int>* alive;
  explicit Guard(std::atomic<int>* alive) : alive(alive) { ++*alive; }
  ~Guard() { --*alive; }
};

enum class WaitIn { barrier, collective, converge, yield };

// All threads but the last wait in one way; the last one throws.
__global__ void last_throws(WaitIn wait, std::atomic<int>* alive, const unsigned* never,
                            unsigned* after) {
  const Guard guard(alive);
  if (threadIdx.x == blockDim.x - 1) throw std::out_of_range("thread 40");
  switch (wait) {
  case WaitIn::barrier: __syncthreads(); break;
  case WaitIn::collective: __syncwarp(threadIdx.x < 32 ? 0xffffffffu : 0x1ffu); break;
  case WaitIn::converge: (void)cg::coalesced_threads(); break;
  case WaitIn::yield:
    while (*static_cast<const volatile unsigned*>(never) == 0) __nanosleep(10);
    break;
  }
  if (wait == WaitIn::barrier || threadIdx.x >= 32) atomicAdd(after, 1);
  __syncthreads();
}

TEST(KernelException, ReachesTheCallerAndUnwindsEveryThread) {
  under_every_order([] {
    for (const WaitIn wait :
         {WaitIn::barrier, WaitIn::collective, WaitIn::converge, WaitIn::yield}) {
      std::atomic<int> alive = 0;
      unsigned never = 0;
      unsigned after = 0;
      try {
        launch(last_throws, {.grid = 1, .block = 41}, wait, &alive, &never, &after);
        ADD_FAILURE() << "no exception";
      } catch (const std::out_of_range& thrown) {
        EXPECT_STREQ(thrown.what(), "thread 40");
      }
      EXPECT_EQ(alive, 0) << "destructors did not run";
      EXPECT_EQ(after, 0u) << "a thread went on";
      expect_launches_work();
    }
  });
}

__global__ void throws_in_block(unsigned block, unsigned* begun) {
  if (threadIdx.x == 0) atomicAdd(begun, 1);
  __syncthreads();
  if (blockIdx.x == block) throw std::runtime_error("block " + std::to_string(block));
}

TEST(KernelException, LaterBlocksAreNotBegun) {
  const ScopedSchedule scope({.workers = 1});
  unsigned begun = 0;
  EXPECT_THROW(launch(throws_in_block, {.grid = 100, .block = 4}, 6, &begun), std::runtime_error);
  EXPECT_EQ(begun, 7u);
}

TEST(KernelException, FromAnyOsThread) {
  for (int workers : {2, 0}) {
    const ScopedSchedule scope({.workers = workers});
    for (unsigned block = 0; block < 40; ++block) {
      unsigned begun = 0;
      EXPECT_THROW(launch(throws_in_block, {.grid = 40, .block = 4}, block, &begun),
                   std::runtime_error);
    }
    expect_launches_work();
  }
}

// Threads that have not started when another fails never do.
__global__ void first_throws(unsigned* started) {
  atomicAdd(started, 1);
  throw std::runtime_error("at once");
}

TEST(KernelException, StopsTheRestOfTheBlock) {
  under_every_order([] {
    unsigned started = 0;
    EXPECT_THROW(launch(first_throws, {.grid = 1, .block = 256}, &started), std::runtime_error);
    EXPECT_EQ(started, 1u);
  });
}

// An exception that a thread catches itself is its own affair, across barriers too.
__global__ void catches(unsigned* out) {
  unsigned caught = 0;
  for (unsigned i = 0; i < 3; ++i) {
    try {
      __syncthreads();
      if ((threadIdx.x + i) % 3 == 0) throw threadIdx.x;
    } catch (unsigned thread) {
      caught += thread == threadIdx.x;
    }
  }
  out[threadIdx.x] = caught;
}

TEST(KernelException, MayBeCaughtInTheKernel) {
  under_every_order([] {
    const auto out = filled<unsigned>(64, [](unsigned* data, Stream& stream) {
      launch(catches, {.grid = 1, .block = 64, .stream = &stream}, data);
    });
    EXPECT_THAT(out, Each(1u));
  });
}

TEST(Trap, NamesKernelBlockThreadAndPlace) {
  EXPECT_THAT(error_of([] {
                launch(traps, {.grid = 4, .block = {1, 2}});
              }),
              AllOf(HasSubstr(place("failure_test.cu", kTrapLine)),
                    HasSubstr("kernel kg::executor::traps, block (2,0,0), thread (0,1,0): __trap() "
                              "was called")));
  expect_launches_work();
}

// The report is the same on every machine: not the failure that happened to come first.
TEST(Trap, TheLowestBlockIsReported) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> other_failed = 0;
    EXPECT_THAT(error_of([&] { launch(all_trap, {.grid = 64, .block = 1}, &other_failed); }),
                HasSubstr("block (0,0,0)"));
  }
}

// --- Shared memory ---

__global__ void write_byte(std::size_t index) {
  if (threadIdx.x == 5) dynamic_shared<unsigned char>()[index] = 1;
}

TEST(SharedMemoryGuard, ReportsAWriteBehindTheEnd) {
  const auto message = [](std::size_t bytes, std::size_t index) {
    return error_of(
        [&] { launch(write_byte, {.grid = 1, .block = 32, .shared_bytes = bytes}, index); });
  };
  EXPECT_EQ(message(100, 99), "");
  EXPECT_THAT(message(100, 100), HasSubstr("byte 0 past the 100 bytes of the launch was written"));
  EXPECT_THAT(message(100, 355), HasSubstr("byte 255 past the 100 bytes"));
  EXPECT_THAT(message(0, 3), HasSubstr("byte 3 past the 0 bytes"));
  EXPECT_THAT(message(163 * 1024, 163 * 1024), HasSubstr("byte 0 past the 166912 bytes"));
  EXPECT_EQ(message(100, 99), "");
}

// --- Stacks ---

// In a process of its own, whose address space ends just above what is mapped.
TEST(StackExhaustionDeathTest, IsAnErrorNotACrash) {
#if KG_ASAN_FIBERS
  GTEST_SKIP() << "AddressSanitizer needs the address space that this test takes away";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const ScopedSchedule scope({.workers = 1});
        std::vector<unsigned> data(1024);
        launch(add_one, {.grid = 1, .block = 32}, data.data()); // the executor itself is there
        rlimit limit{};
        getrlimit(RLIMIT_AS, &limit);
        const rlim_t before = limit.rlim_cur;
        limit.rlim_cur = 1; // less than is mapped already: nothing more is granted
        setrlimit(RLIMIT_AS, &limit);
        const std::string message =
            error_of([&] { launch(add_one, {.grid = 1, .block = 1024}, data.data()); });
        limit.rlim_cur = before;
        setrlimit(RLIMIT_AS, &limit);
        std::fill(data.begin(), data.end(), 0u);
        launch(add_one, {.grid = 1, .block = 1024}, data.data());
        std::fprintf(stderr, "%s; then %u", message.c_str(), data[1023]);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "no memory for thread stacks .*; then 1");
}

// --- Outside kernels ---

TEST(OutsideAKernel, EveryCollectiveIsAnError) {
  EXPECT_THAT(error_of([] { __shfl_sync(0xffffffffu, 1, 0); }),
              AllOf(HasSubstr("failure_test.cu"), HasSubstr("__shfl_sync was called outside")));
  EXPECT_THAT(error_of([] { __ballot_sync(0xffffffffu, 1); }), HasSubstr("outside a kernel"));
  EXPECT_THAT(error_of([] { __nanosleep(1); }), HasSubstr("outside a kernel"));
  EXPECT_THAT(error_of([] { __trap(); }), HasSubstr("outside a kernel"));
  EXPECT_THAT(error_of([] { (void)dynamic_shared<int>(); }), HasSubstr("outside a kernel"));
}

} // namespace
} // namespace kg::executor
