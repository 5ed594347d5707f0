// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of an ordinary launch that wait for each other: those that a GPU holds at once all make
// progress, and a launch that can never end is an error.
#include "runtime/device.h"
#include "runtime/host/looks.h"
#include "runtime/host/observer.h"
#include "runtime/host/residents.h"
#include "runtime/host/stack_pool.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <set>
#include <thread>

namespace kg::executor {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

enum class Poll { atomic, hint, sleep };

constexpr int kAtomicLine = __LINE__ + 4;
template <Poll kPoll>
__device__ unsigned look(unsigned* word) {
  if (kPoll == Poll::hint) return __ldcg(word);
  if (kPoll == Poll::atomic) return atomicAdd(word, 0);
  __nanosleep(10);
  return atomicCAS(word, 0, 0);
}

template <Poll kPoll>
__global__ void meet(unsigned* arrived, unsigned* passed) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (look<kPoll>(arrived) < gridDim.x) {
    }
    atomicAdd(passed, 1);
  }
  __syncthreads();
}

// Every block waits for the one behind it.
__global__ void wait_for_next(unsigned* done) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x + 1 < gridDim.x)
    while (atomicOr(&done[blockIdx.x + 1], 0) == 0) {
    }
  atomicExch(&done[blockIdx.x], 1);
}

__global__ void wait_within_block(unsigned* word) {
  if (threadIdx.x == 0)
    while (__ldcv(word) == 0) {
    }
  else
    atomicExch(word, 1);
}

__global__ void note_order(unsigned* next, unsigned* order) {
  __syncthreads();
  if (threadIdx.x == 0) order[atomicAdd(next, 1)] = blockIdx.x;
}

// Reads two words in turns, a thousand times, which another block could end.
__global__ void poll_a_thousand_times(unsigned* words, unsigned* polls) {
  for (int i = 0; i < 1000 && atomicOr(&words[i % 2], 0) == 0; ++i) *polls = *polls + 1;
}

// One worker, as on a machine with one processor, and some.
void with_one_worker_and_more(const std::function<void()>& body) {
  for (int workers : {1, 2, 0}) {
    SCOPED_TRACE(workers);
    const ScopedSchedule scope({ThreadOrder::forward, 1, workers});
    body();
    if (testing::Test::HasFailure()) return;
  }
}

template <Poll kPoll>
void expect_meeting(unsigned blocks) {
  unsigned arrived = 0, passed = 0;
  launch(meet<kPoll>, {.grid = blocks, .block = 64}, &arrived, &passed);
  EXPECT_EQ(passed, blocks);
}

TEST(Residents, MeetInAnOrdinaryLaunch) {
  with_one_worker_and_more([] {
    for (unsigned blocks : {2, 16, 64}) {
      expect_meeting<Poll::atomic>(blocks);
      expect_meeting<Poll::hint>(blocks);
      expect_meeting<Poll::sleep>(blocks);
    }
  });
}

TEST(Residents, AreAsManyAsTheDeviceHolds) {
  const auto sms = static_cast<unsigned>(device_properties().sm_count);
  EXPECT_EQ(host::resident_blocks({64, 1, 1}, 0), 32 * sms);        // the most per multiprocessor
  EXPECT_EQ(host::resident_blocks({1000, 1, 1}, 0), 2 * sms);       // by threads, in whole warps
  EXPECT_EQ(host::resident_blocks({32, 1, 1}, 81 * 1024), 2 * sms); // by shared memory
  EXPECT_EQ(host::resident_blocks({32, 1, 1}, 82 * 1024), sms);     // and what the system takes
  unsigned arrived = 0, passed = 0;
  launch(meet<Poll::atomic>, {.grid = 2 * sms, .block = 1024}, &arrived, &passed);
  EXPECT_EQ(passed, 2 * sms);
}

// More threads than a process has mappings for stacks with a guard page.
TEST(StackPool, GoesOnWhereMappingsEnd) {
  host::StackPool pool;
  std::set<void*> bottoms;
  for (int i = 0; i < 70'000; ++i) {
    const host::StackPool::Stack* const stack = pool.take();
    *static_cast<char*>(stack->bottom) = 1;
    bottoms.insert(stack->bottom);
  }
  EXPECT_EQ(bottoms.size(), 70'000u);
}

TEST(Residents, MayWaitForLaterBlocks) {
  with_one_worker_and_more([] {
    std::vector<unsigned> done(64);
    launch(wait_for_next, {.grid = 64, .block = 32}, done.data());
    EXPECT_THAT(done, testing::Each(1u));
  });
}

TEST(Residents, MoreThanFitNeverMeet) {
  const auto sms = static_cast<unsigned>(device_properties().sm_count);
  with_one_worker_and_more([&] {
    unsigned arrived = 0, passed = 0;
    const std::string error = error_of([&] {
      launch(meet<Poll::atomic>, {.grid = sms + 1, .block = 64, .shared_bytes = 160 * 1024},
             &arrived, &passed);
    });
    EXPECT_THAT(error, AllOf(HasSubstr("deadlock in kernel "), HasSubstr("only poll"),
                             HasSubstr(std::to_string(sms) + " blocks are resident, " +
                                       std::to_string(sms + 1) + " were launched"),
                             HasSubstr("block (0,0,0) and " + std::to_string(sms - 1) +
                                       " more: thread 0 waits in a polling loop at "),
                             HasSubstr(place("residents_test.cu", kAtomicLine)),
                             HasSubstr("threads 1..63 wait in __syncthreads")));
    EXPECT_EQ(passed, 0u);
  });
  expect_meeting<Poll::atomic>(2); // the next launch works
}

struct OneAtATime : host::Observer {
  OneAtATime() { host::observer = this; }
  ~OneAtATime() override { host::observer = nullptr; }
  void block_ended(host::Block&) override {
    EXPECT_EQ(++inside, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --inside;
    ++ended;
  }
  std::atomic<int> inside = 0, ended = 0;
};

TEST(Residents, ThatAreGivenUpTellWhoWatchesInTurn) {
  const auto sms = static_cast<unsigned>(device_properties().sm_count);
  OneAtATime watch;
  unsigned arrived = 0, passed = 0;
  const std::string error = error_of([&] {
    launch(meet<Poll::atomic>, {.grid = sms + 1, .block = 64, .shared_bytes = 160 * 1024}, &arrived,
           &passed);
  });
  EXPECT_THAT(error, HasSubstr("only poll"));
  EXPECT_EQ(watch.ended, static_cast<int>(sms));
}

TEST(Residents, ThatNobodyEndsAreADeadlock) {
  const std::string error = error_of([] {
    unsigned arrived = 0, passed = 0;
    launch(wait_for_next, {.grid = 1, .block = 32}, &arrived); // this one ends
    arrived = 0;
    launch(meet<Poll::hint>, {.grid = 2, .block = 32}, &arrived, &passed);
    arrived = 0;
    launch(wait_within_block, {.grid = 1, .block = 1}, &arrived);
  });
  EXPECT_THAT(error, AllOf(HasSubstr("deadlock in kernel "),
                           HasSubstr("1 block is resident, 1 was launched"),
                           HasSubstr("thread 0 waits in a polling loop")));
}

TEST(Residents, ThreadsOfABlockPollForEachOther) {
  unsigned word = 0;
  launch(wait_within_block, {.grid = 1, .block = 2}, &word);
  EXPECT_EQ(word, 1u);
}

TEST(Residents, WhoGivesUpAfterManyLooksIsNoDeadlock) {
  with_one_worker_and_more([] {
    unsigned words[2] = {0, 0}, polls = 0;
    launch(poll_a_thousand_times, {.grid = 1, .block = 1}, words, &polls);
    EXPECT_EQ(polls, 1000u);
  });
}

TEST(Residents, RunInIndexOrderWhereNobodyPolls) {
  const ScopedSchedule scope({ThreadOrder::forward, 1, 1});
  unsigned next = 0, order[5] = {};
  launch(note_order, {.grid = 5, .block = 32}, &next, order);
  EXPECT_THAT(order, ElementsAre(0u, 1u, 2u, 3u, 4u));
}

TEST(Looks, ComeBackInALoopThatPolls) {
  unsigned words[100] = {};
  host::Looks looks;
  unsigned vain = 0;
  for (int round = 0; round < 100; ++round)
    for (int i : {0, 1, 2}) vain += looks.in_vain(&words[i], 0);
  EXPECT_EQ(vain, 1u);
}

TEST(Looks, AtAnArrayDoNotComeBack) {
  unsigned words[100] = {};
  host::Looks looks;
  for (unsigned& word : words) EXPECT_FALSE(looks.in_vain(&word, 0));
}

TEST(Looks, AtAValueThatChangesAreNotInVain) {
  unsigned word = 0;
  host::Looks looks;
  for (unsigned value = 0; value < 100; ++value) EXPECT_FALSE(looks.in_vain(&word, value));
}

} // namespace
} // namespace kg::executor
