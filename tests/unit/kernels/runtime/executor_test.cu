// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The executor's frame: built-in variables, arguments, shared memory, OS threads, stacks. In which
// order threads and blocks run: thread_order_test.cu.
#include "runtime/device.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <set>
#include <thread>

namespace kg::executor {
namespace {

using testing::Each;
using testing::ElementsAreArray;

__device__ unsigned thread_rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ unsigned block_rank() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

// --- Built-in variables ---

struct Seen {
  uint3 thread, block;
  unsigned block_x, block_y, block_z, grid_x, grid_y, grid_z;
};

__global__ void look_around(Seen* out) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block_rank() * threads + thread_rank()] = {threadIdx,  blockIdx,  blockDim.x, blockDim.y,
                                                 blockDim.z, gridDim.x, gridDim.y,  gridDim.z};
}

TEST(ExecutorBuiltins, HoldEachThreadsPlace) {
  struct Shape {
    dim3 grid, block;
  };
  const Shape shapes[] = {
      {1, 1},   {3, 33}, {{4, 3}, {7, 5}}, {{2, 3, 2}, {4, 3, 5}}, {{1, 1, 3}, {1, 1, 64}},
      {2, 1024}};
  under_every_order([&] {
    for (const Shape& shape : shapes) {
      const dim3 grid = shape.grid; // clang 14 does not let lambdas capture structured bindings
      const dim3 block = shape.block;
      const unsigned threads = block.x * block.y * block.z;
      const unsigned blocks = grid.x * grid.y * grid.z;
      const auto out = filled<Seen>(threads * blocks, [&](Seen* data, Stream& stream) {
        launch(look_around, {.grid = grid, .block = block, .stream = &stream}, data);
      });
      for (unsigned i = 0; i < out.size(); ++i) {
        const unsigned t = i % threads;
        const unsigned b = i / threads;
        const Seen& seen = out[i];
        ASSERT_EQ(seen.thread.x, t % block.x) << i;
        ASSERT_EQ(seen.thread.y, t / block.x % block.y) << i;
        ASSERT_EQ(seen.thread.z, t / block.x / block.y) << i;
        ASSERT_EQ(seen.block.x, b % grid.x) << i;
        ASSERT_EQ(seen.block.y, b / grid.x % grid.y) << i;
        ASSERT_EQ(seen.block.z, b / grid.x / grid.y) << i;
        ASSERT_EQ(seen.block_x, block.x);
        ASSERT_EQ(seen.block_y, block.y);
        ASSERT_EQ(seen.block_z, block.z);
        ASSERT_EQ(seen.grid_x, grid.x);
        ASSERT_EQ(seen.grid_y, grid.y);
        ASSERT_EQ(seen.grid_z, grid.z);
      }
    }
  });
}

__global__ void look_around_after_barrier(unsigned* out) {
  __syncthreads();
  out[block_rank() * blockDim.x * blockDim.y + thread_rank()] = 100 * threadIdx.y + threadIdx.x;
}

TEST(ExecutorBuiltins, FollowTheThreadAcrossSwitches) {
  under_every_order([] {
    const auto out = filled<unsigned>(3 * 60, [](unsigned* data, Stream& stream) {
      launch(look_around_after_barrier, {.grid = 3, .block = {12, 5}, .stream = &stream}, data);
    });
    for (unsigned i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], 100 * (i % 60 / 12) + i % 12) << i;
    }
  });
}

// Warps are cut from the linear rank, x fastest; the last one is partial.
__global__ void warp_population(unsigned* out) {
  out[thread_rank()] = __ballot_sync(0xffffffffu, 1);
}

TEST(ExecutorBuiltins, LastWarpIsPartial) {
  under_every_order([] {
    const auto out = filled<unsigned>(75, [](unsigned* data, Stream& stream) {
      launch(warp_population, {.grid = 1, .block = {5, 5, 3}, .stream = &stream}, data);
    });
    for (unsigned i = 0; i < 75; ++i) EXPECT_EQ(out[i], i < 64 ? ~0u : 0x7ffu) << i;
  });
}

// --- Arguments ---

struct Parcel {
  double weight;
  char label[24];
};

__global__ void unpack(long long wide, float narrow, const int* values, Parcel parcel, bool flag,
                       double* out) {
  out[0] = static_cast<double>(wide);
  out[1] = static_cast<double>(narrow);
  out[2] = values[2];
  out[3] = parcel.weight;
  out[4] = parcel.label[0];
  out[5] = flag;
}

TEST(ExecutorArguments, AreConvertedToTheParametersTypes) {
  int values[] = {5, 6, 7};
  const Parcel parcel{2.5, "x"};
  std::vector<double> out(6);
  launch(unpack, {.grid = 1, .block = 1}, -3, 0.1, values, parcel, 1, out.data());
  EXPECT_THAT(out, ElementsAreArray({-3.0, static_cast<double>(0.1f), 7.0, 2.5, 120.0, 1.0}));
}

__global__ void spoil_own_copy(int value, int* out) {
  value += static_cast<int>(threadIdx.x);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

TEST(ExecutorArguments, EveryThreadHasItsOwnCopy) {
  under_every_order([] {
    const auto out = filled<int>(4 * 64, [](int* data, Stream& stream) {
      launch(spoil_own_copy, {.grid = 4, .block = 64, .stream = &stream}, 1000, data);
    });
    for (int i = 0; i < 256; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], 1000 + i % 64);
  });
}

__global__ void nothing() { __syncthreads(); }

TEST(ExecutorArguments, MayBeNone) { EXPECT_NO_THROW(launch(nothing, {.grid = 2, .block = 40})); }

// --- Shared memory ---

__global__ void reverse_static(int* out) {
  __shared__ int values[256];
  __shared__ int offset;
  if (threadIdx.x == 0) offset = static_cast<int>(blockIdx.x) * 1000;
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = offset + values[255 - threadIdx.x];
}

TEST(ExecutorSharedMemory, StaticArraysBelongToTheBlock) {
  under_every_order([] {
    const auto out = filled<int>(20 * 256, [](int* data, Stream& stream) {
      launch(reverse_static, {.grid = 20, .block = 256, .stream = &stream}, data);
    });
    for (int i = 0; i < 20 * 256; ++i) {
      ASSERT_EQ(out[static_cast<std::size_t>(i)], i / 256 * 1000 + 255 - i % 256) << i;
    }
  });
}

__global__ void reverse_dynamic(int count, int* out, unsigned* misaligned) {
  int* first = dynamic_shared<int>();
  int* second = dynamic_shared<int>(sizeof(int) * static_cast<std::size_t>(count / 2));
  if (reinterpret_cast<std::uintptr_t>(first) % 128 != 0) atomicAdd(misaligned, 1);
  const int step = static_cast<int>(blockDim.x);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += step) first[i] = i;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < count / 2; i += step) {
    out[blockIdx.x * static_cast<unsigned>(count / 2) + static_cast<unsigned>(i)] = second[i];
  }
}

TEST(ExecutorSharedMemory, DynamicGoesBeyond48KiB) {
  const std::size_t most = device_properties().shared_bytes_per_block_optin;
  ASSERT_GT(most, 48u * 1024);
  under_every_order([&] {
    unsigned misaligned = 0;
    const int count = static_cast<int>(most / sizeof(int));
    const auto half = static_cast<std::size_t>(count / 2);
    const auto out = filled<int>(3 * half, [&](int* data, Stream& stream) {
      launch(reverse_dynamic, {.grid = 3, .block = 96, .shared_bytes = most, .stream = &stream},
             count, data, &misaligned);
    });
    for (std::size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], count / 2 + static_cast<int>(i % half)) << i;
    }
    EXPECT_EQ(misaligned, 0u);
  });
}

// --- OS threads and stacks ---

__global__ void note_os_thread(std::thread::id* ids, std::atomic<int>* present, int wait_for) {
  ids[blockIdx.x] = std::this_thread::get_id();
  ++*present;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (*present < wait_for && std::chrono::steady_clock::now() < deadline) __nanosleep(100);
}

std::set<std::thread::id> os_threads(unsigned blocks, int workers, int wait_for) {
  const ScopedSchedule scope({.workers = workers});
  std::vector<std::thread::id> ids(blocks);
  std::atomic<int> present = 0;
  launch(note_os_thread, {.grid = blocks, .block = 1}, ids.data(), &present, wait_for);
  return {ids.begin(), ids.end()};
}

TEST(ExecutorWorkers, OneWorkerIsTheCaller) {
  EXPECT_THAT(os_threads(50, 1, 0), testing::ElementsAre(std::this_thread::get_id()));
}

TEST(ExecutorWorkers, TwoWorkersRunAtTheSameTime) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two processors";
  EXPECT_EQ(os_threads(2, 2, 2).size(), 2u);
}

__global__ void count_visits(unsigned* visits) {
  __shared__ unsigned mine;
  if (threadIdx.x == 0) mine = 0;
  __syncthreads();
  atomicAdd(&mine, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&visits[blockIdx.x], mine);
}

TEST(ExecutorWorkers, EveryBlockRunsOnce) {
  for (int workers : {1, 2, 8, 0}) {
    const ScopedSchedule scope({.workers = workers});
    std::vector<unsigned> visits(2000);
    launch(count_visits, {.grid = 2000, .block = 45}, visits.data());
    EXPECT_THAT(visits, Each(45u)) << workers << " workers";
  }
}

// A large frame on every stack at once, kept across a barrier.
__global__ void large_frame(unsigned* out) {
  volatile unsigned frame[12 * 1024];
  for (unsigned i = 0; i < 12 * 1024; i += 512) frame[i] = threadIdx.x + i;
  __syncthreads();
  unsigned wrong = 0;
  for (unsigned i = 0; i < 12 * 1024; i += 512) wrong += frame[i] != threadIdx.x + i;
  out[threadIdx.x] = wrong;
}

TEST(ExecutorStacks, AreSeparateAndHold48KiB) {
  under_every_order([] {
    const auto out = filled<unsigned>(1024, [](unsigned* data, Stream& stream) {
      launch(large_frame, {.grid = 1, .block = 1024, .stream = &stream}, data);
    });
    EXPECT_THAT(out, Each(0u));
  });
}

__global__ void place_in_line(unsigned* out) {
  out[0] = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) % 64);
}

// What a launch takes must not depend on how deep the stack is where it is made.
TEST(ExecutorStacks, FramesOfKernelsLieAlikeWhoeverLaunchesThem) {
  const auto place_behind = [](std::size_t bytes) {
    asm volatile("" : : "r"(__builtin_alloca(bytes)));
    unsigned place = 64;
    launch(place_in_line, {.grid = 1, .block = 1}, &place);
    return place;
  };
  const unsigned place = place_behind(16);
  EXPECT_LT(place, 64u);
  for (const std::size_t bytes : {32, 48, 64, 80}) EXPECT_EQ(place_behind(bytes), place) << bytes;
}

} // namespace
} // namespace kg::executor
