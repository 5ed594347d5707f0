// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies: they arrive as late as possible, at once, or either, and what a kernel does
// wrong shows in one of these. That correct pipelines work is in
// tests/unit/kernels/runtime/ptx/idioms/pipeline_test.cu.
#include "instructions/cp_async.h"
#include "instructions/mbarrier.h"
#include "runtime/host/observer.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>

namespace kg::executor {
namespace {

namespace cg = cooperative_groups;

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> counted(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

bool all_nan(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isnan(v); });
}

// --- A wait that is missing ---

enum class Wait { none, all, group, pipeline, group_of_threads };

__global__ void stage_through_shared(Wait wait, const float* in, float* out) {
  alignas(16) __shared__ float stage[128];
  const unsigned i = 4 * threadIdx.x;
  ptx::cp_async_cg(&stage[i], &in[i]);
  ptx::cp_async_commit();
  if (wait == Wait::all) ptx::cp_async_wait_all();
  if (wait == Wait::group) ptx::cp_async_wait_group<0>();
  if (wait == Wait::pipeline) __pipeline_wait_prior(0);
  if (wait == Wait::group_of_threads) cg::wait(cg::this_thread_block());
  __syncthreads();
  for (unsigned k = 0; k < 4; ++k) out[i + k] = stage[i + k];
}

TEST(AsyncCopy, ArrivesAtEveryKindOfWait) {
  const std::vector<float> in = counted(128);
  under_every_order([&] {
    for (Wait wait : {Wait::all, Wait::group, Wait::pipeline, Wait::group_of_threads}) {
      std::vector<float> out(128);
      launch(stage_through_shared, {.grid = 1, .block = 32}, wait, in.data(), out.data());
      EXPECT_EQ(out, in);
    }
  });
}

TEST(AsyncCopy, WithoutAWaitIsNan) {
  const std::vector<float> in = counted(128);
  std::vector<float> out(128);
  const ScopedSchedule scope({ThreadOrder::forward});
  launch(stage_through_shared, {.grid = 1, .block = 32}, Wait::none, in.data(), out.data());
  EXPECT_TRUE(all_nan(out));
}

TEST(AsyncCopy, WithoutAWaitIsPartlyNanByChance) {
  const std::vector<float> in = counted(128);
  std::vector<float> out(128);
  const ScopedSchedule scope({ThreadOrder::random, 5});
  launch(stage_through_shared, {.grid = 1, .block = 32}, Wait::none, in.data(), out.data());
  const auto absent = std::count_if(out.begin(), out.end(), [](float v) { return std::isnan(v); });
  EXPECT_GT(absent, 0);
  EXPECT_LT(absent, 128);
}

// The newest of two groups is still in flight.
__global__ void wait_for_the_older(float* out, const float* in) {
  __shared__ float stage[2];
  for (unsigned i = 0; i < 2; ++i) {
    ptx::cp_async_ca<4>(&stage[i], &in[i]);
    ptx::cp_async_commit();
  }
  ptx::cp_async_wait_group<1>();
  out[0] = stage[0];
  out[1] = stage[1];
  ptx::cp_async_ca<4>(&stage[0], &in[2]); // belongs to no group
  ptx::cp_async_wait_group<0>();
  out[2] = stage[1];
  out[3] = stage[0];
  ptx::cp_async_wait_all();
  out[4] = stage[0];
}

TEST(AsyncCopy, WaitsForTheGroupsThatItNames) {
  const std::vector<float> in = counted(3);
  std::vector<float> out(5);
  const ScopedSchedule scope({ThreadOrder::forward});
  launch(wait_for_the_older, {.grid = 1, .block = 1}, out.data(), in.data());
  EXPECT_EQ(out[0], 1);
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_EQ(out[2], 2);
  EXPECT_TRUE(std::isnan(out[3]));
  EXPECT_EQ(out[4], 3);
}

// Each thread waits for its own copies only: the barrier is what makes them everyone's.
__global__ void read_a_neighbour(bool barrier, const float* in, float* out) {
  __shared__ float stage[64];
  ptx::cp_async_ca<4>(&stage[threadIdx.x], &in[threadIdx.x]);
  ptx::cp_async_wait_all();
  if (barrier) __syncthreads();
  out[threadIdx.x] = stage[63 - threadIdx.x];
}

TEST(AsyncCopy, OfOthersNeedsABarrier) {
  const std::vector<float> in = counted(64);
  const std::vector<float> reversed(in.rbegin(), in.rend());
  under_every_order([&] {
    std::vector<float> out(64);
    launch(read_a_neighbour, {.grid = 1, .block = 64}, true, in.data(), out.data());
    EXPECT_EQ(out, reversed);
    std::vector<float> negated; // what an earlier launch left behind must not pass
    for (float v : in) negated.push_back(-v);
    launch(read_a_neighbour, {.grid = 1, .block = 64}, false, negated.data(), out.data());
    EXPECT_NE(out, std::vector<float>(negated.rbegin(), negated.rend()));
  });
}

// --- Too soon ---

__global__ void overwrite_the_source(bool wait, float* source, float* out) {
  __shared__ float stage[32];
  ptx::cp_async_ca<4>(&stage[threadIdx.x], &source[threadIdx.x]);
  if (wait) ptx::cp_async_wait_all();
  source[threadIdx.x] = -1;
  ptx::cp_async_wait_all();
  out[threadIdx.x] = stage[threadIdx.x];
}

TEST(AsyncCopy, ReadsItsSourceLate) {
  const ScopedSchedule scope({ThreadOrder::forward});
  for (bool wait : {true, false}) {
    std::vector<float> source(32, 7.0f);
    std::vector<float> out(32);
    launch(overwrite_the_source, {.grid = 1, .block = 32}, wait, source.data(), out.data());
    EXPECT_THAT(out, Each(wait ? 7.0f : -1.0f));
  }
}

// The next tile is fetched into a stage that others still read.
__global__ void free_a_stage(bool barrier, const float* in, float* out) {
  __shared__ float stage[64];
  const unsigned i = threadIdx.x;
  ptx::cp_async_ca<4>(&stage[i], &in[i]);
  ptx::cp_async_wait_all();
  __syncthreads();
  out[i] = stage[63 - i];
  if (barrier) __syncthreads();
  ptx::cp_async_ca<4>(&stage[i], &in[64 + i]);
  ptx::cp_async_wait_all();
  __syncthreads();
  out[64 + i] = stage[63 - i];
}

TEST(AsyncCopy, IntoAStageInUseShows) {
  const std::vector<float> in = counted(128);
  under_every_order([&] {
    std::vector<float> out(128);
    launch(free_a_stage, {.grid = 1, .block = 64}, true, in.data(), out.data());
    EXPECT_EQ(out[0], 64);
    EXPECT_EQ(out[127], 65);
    const std::vector<float> right = out;
    launch(free_a_stage, {.grid = 1, .block = 64}, false, in.data(), out.data());
    EXPECT_NE(out, right);
  });
}

// A value written to the destination while the copy is in flight: what stands there at the end is
// the copy's (late) or the thread's (early), so one of the orders shows it.
__global__ void write_the_destination(const float* in, float* out) {
  __shared__ float stage[32];
  ptx::cp_async_ca<4>(&stage[threadIdx.x], &in[threadIdx.x]);
  stage[threadIdx.x] = -1;
  ptx::cp_async_wait_all();
  out[threadIdx.x] = stage[threadIdx.x];
}

TEST(AsyncCopy, ArrivesEarlyInReverseOrder) {
  const std::vector<float> in = counted(32);
  std::vector<float> out(32);
  {
    const ScopedSchedule scope({ThreadOrder::forward});
    launch(write_the_destination, {.grid = 1, .block = 32}, in.data(), out.data());
    EXPECT_EQ(out, in);
  }
  const ScopedSchedule scope({ThreadOrder::reverse});
  launch(write_the_destination, {.grid = 1, .block = 32}, in.data(), out.data());
  EXPECT_THAT(out, Each(-1.0f));
}

// --- Sizes and operands ---

__global__ void zero_filled(const unsigned char* in, unsigned char* out) {
  alignas(16) __shared__ unsigned char stage[4][16];
  ptx::cp_async_cg(stage[0], in, 5);
  ptx::cp_async_ca<16>(stage[1], in, 0);
  ptx::cp_async_ca<8>(stage[2], in, 8);
  ptx::cp_async_ca<8>(stage[2] + 8, in + 8, 1);
  for (unsigned i = 0; i < 4; ++i) __pipeline_memcpy_async(stage[3] + 4 * i, in, 4, i);
  ptx::cp_async_wait_all();
  for (unsigned i = 0; i < 64; ++i) out[i] = stage[i / 16][i % 16];
}

TEST(AsyncCopy, FillsWithZerosWhatTheSourceLacks) {
  alignas(16) const unsigned char in[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9};
  under_every_order([&] {
    std::vector<unsigned> out(64);
    std::vector<unsigned char> bytes(64);
    launch(zero_filled, {.grid = 1, .block = 1}, static_cast<const unsigned char*>(in),
           bytes.data());
    std::copy(bytes.begin(), bytes.end(), out.begin());
    EXPECT_THAT(out, ElementsAre(1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
                                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
                                 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, //
                                 1, 2, 3, 4, 1, 2, 3, 0, 1, 2, 0, 0, 1, 0, 0, 0));
  });
}

__global__ void copy_with(int to_offset, int from_offset, int bytes, int zeros, const char* in) {
  alignas(16) __shared__ char stage[64];
  __pipeline_memcpy_async(stage + to_offset, in + from_offset, static_cast<std::size_t>(bytes),
                          static_cast<std::size_t>(zeros));
  __pipeline_wait_prior(0);
}

TEST(AsyncCopy, RefusesImpossibleOperands) {
  alignas(16) const char in[64] = {};
  const auto message = [&](int to, int from, int bytes, int zeros) {
    return error_of([&] {
      launch(copy_with, {.grid = 1, .block = 1}, to, from, bytes, zeros,
             static_cast<const char*>(in));
    });
  };
  EXPECT_EQ(message(8, 24, 8, 8), "");
  EXPECT_THAT(message(8, 16, 16, 0),
              AllOf(HasSubstr("async_copy_test.cu"), HasSubstr("kernel"),
                    HasSubstr("the destination is not aligned to 16 bytes")));
  EXPECT_THAT(message(0, 4, 8, 0), HasSubstr("the source is not aligned to 8 bytes"));
  EXPECT_THAT(message(0, 0, 12, 0), HasSubstr("of 12 bytes; it copies 4, 8 or 16"));
  EXPECT_THAT(message(0, 0, 4, 5), HasSubstr("must not exceed"));
  EXPECT_THAT(error_of([] { ptx::cp_async_commit(); }),
              HasSubstr("cp_async_commit was called outside a kernel"));
}

// A thread may leave with copies in flight; the next block has nothing of them.
__global__ void leave_in_flight(const float* in, float* out) {
  __shared__ float stage[32];
  stage[threadIdx.x] = 3;
  ptx::cp_async_wait_all();
  out[32 * blockIdx.x + threadIdx.x] = stage[threadIdx.x];
  ptx::cp_async_ca<4>(&stage[threadIdx.x], &in[threadIdx.x]);
  ptx::cp_async_commit();
}

TEST(AsyncCopy, MayBeLeftInFlight) {
  const std::vector<float> in = counted(32);
  under_every_order([&] {
    std::vector<float> out(96);
    launch(leave_in_flight, {.grid = 3, .block = 32}, in.data(), out.data());
    EXPECT_THAT(out, Each(3.0f));
  });
}

// --- What a watcher is told ---

struct Watch : host::Observer {
  Watch() { host::observer = this; }
  ~Watch() override { host::observer = nullptr; }
  void async_copy_issued(void* to, const void* from, std::size_t bytes, std::size_t source_bytes,
                         Location where) override {
    EXPECT_EQ(source_bytes, bytes);
    events.push_back("issue " + std::to_string(bytes));
    destination = to;
    source = from;
    line = where.line;
  }
  void async_copy_arrived(void* to, std::size_t bytes, bool handed_over) override {
    events.push_back("wait " + std::to_string(bytes));
    EXPECT_EQ(to, destination);
    EXPECT_FALSE(handed_over);
  }
  void barrier_arrived(const void*) override { events.emplace_back("arrive"); }
  void barrier_passed(const void*) override { events.emplace_back("pass"); }

  std::vector<std::string> events;
  void* destination = nullptr;
  const void* source = nullptr;
  int line = 0;
};

constexpr int kCopyLine = __LINE__ + 4;
__global__ void copy_and_signal(const float* in) {
  __shared__ float stage[2];
  __shared__ std::uint64_t barrier;
  ptx::cp_async_ca<8>(stage, in);
  ptx::cp_async_wait_all();
  ptx::mbarrier_init(&barrier, 1);
  ptx::mbarrier_arrive(&barrier);
  ptx::mbarrier_wait_parity(&barrier, 0);
}

TEST(AsyncCopy, TellsTheObserver) {
  alignas(8) const float in[2] = {};
  under_every_order([&] {
    Watch watch;
    launch(copy_and_signal, {.grid = 1, .block = 1}, static_cast<const float*>(in));
    EXPECT_THAT(watch.events, ElementsAre("issue 8", "wait 8", "arrive", "pass"));
    EXPECT_EQ(watch.source, in);
    EXPECT_EQ(watch.line, kCopyLine);
  });
}

} // namespace
} // namespace kg::executor
