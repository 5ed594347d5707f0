// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches of the host backend as seen from outside: what is recorded, how kernels are named, which
// configurations are refused and with what words.
#include "runtime/device.h"
#include "runtime/hopper_device.h"
#include "runtime/resident_clusters.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <gmock/gmock.h>
#include <thread>

namespace kg::executor {

// Outside the anonymous namespace: only visible functions have names to report.
__global__ void scale(int count, float factor, float* data) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) data[i] *= factor;
}

template <class T, int kStep>
__global__ void step(T* data) {
  data[threadIdx.x] += static_cast<T>(kStep);
}

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

__global__ void hidden() {}

// --- Recorder and names ---

TEST(LaunchRecording, KeepsWhatWasLaunched) {
  Stream stream;
  std::vector<float> data(4096, 1.0f);
  const LaunchRecorder recorder;
  launch(scale, {.grid = {16, 2, 3}, .block = {8, 4, 2}, .shared_bytes = 60000, .stream = &stream},
         4096, 2, data.data());
  launch(step<float, 3>, {.grid = 4, .block = 32, .cluster = {2, 1, 1}}, data.data());
  launch(step<float, 3>, {.grid = 2, .block = 32, .cooperative = true}, data.data());

  ASSERT_EQ(recorder.launches().size(), 3u);
  const LaunchRecord& first = recorder.launches()[0];
  EXPECT_EQ(first.kernel, reinterpret_cast<const void*>(&scale));
  EXPECT_EQ(first.kernel_name, "kg::executor::scale");
  EXPECT_EQ(first.grid.x, 16u);
  EXPECT_EQ(first.grid.y, 2u);
  EXPECT_EQ(first.grid.z, 3u);
  EXPECT_EQ(first.block.x, 8u);
  EXPECT_EQ(first.block.y, 4u);
  EXPECT_EQ(first.block.z, 2u);
  EXPECT_EQ(first.cluster.x, 1u);
  EXPECT_EQ(first.shared_bytes, 60000u);
  EXPECT_FALSE(first.cooperative);
  EXPECT_EQ(recorder.launches()[1].kernel_name, "kg::executor::step<float, 3>");
  EXPECT_EQ(recorder.launches()[1].cluster.x, 2u);
  EXPECT_TRUE(recorder.launches()[2].cooperative);
}

TEST(ResidentClusters, FillTheMultiprocessors) {
  const int multiprocessors = device_properties().sm_count;
  EXPECT_EQ(resident_clusters(hidden, {.grid = 8, .block = 32, .cluster = {4, 1, 1}}),
            multiprocessors / 4);
}

TEST(LaunchRecording, InnermostRecorderRecords) {
  std::vector<float> data(32);
  const auto add_one = [&] { launch(step<float, 1>, {.grid = 1, .block = 32}, data.data()); };
  add_one(); // recorded by no one
  const LaunchRecorder outer;
  add_one();
  {
    const LaunchRecorder inner;
    add_one();
    add_one();
    EXPECT_EQ(inner.launches().size(), 2u);
  }
  add_one();
  EXPECT_EQ(outer.launches().size(), 2u);
}

TEST(LaunchRecording, RefusedLaunchIsNotRecorded) {
  const LaunchRecorder recorder;
  EXPECT_THROW(launch(hidden, {.grid = 0, .block = 1}), Error);
  EXPECT_THAT(recorder.launches(), IsEmpty());
}

// The address lies between two visible functions; neither name is right.
TEST(LaunchRecording, KernelWithoutAVisibleNameGetsNoOtherKernelsName) {
  const LaunchRecorder recorder;
  launch(hidden, {.grid = 1, .block = 1});
  EXPECT_EQ(recorder.launches()[0].kernel_name, "(kernel without a visible name)");
}

// --- Configurations that are refused ---

std::string refusal(const LaunchConfig& config) {
  const LaunchRecorder recorder;
  const std::string message = error_of([&] { launch(step<int, 1>, config, nullptr); });
  EXPECT_THAT(recorder.launches(), IsEmpty());
  return message;
}

TEST(LaunchRefusal, NamesKernelConfigurationAndSite) {
  const int line = __LINE__ + 1; // outside the macro, whose line is its last one to clang
  const auto message = refusal({.grid = {5, 0, 1}, .block = {32, 2, 1}, .shared_bytes = 77});
  EXPECT_THAT(message, AllOf(HasSubstr(place("launch_test.cu", line)),
                             HasSubstr("launch of kg::executor::step<int, 1>"),
                             HasSubstr("grid (5,0,1), block (32,2,1), 77 bytes of shared memory"),
                             HasSubstr("every grid extent must be at least 1")));
}

TEST(LaunchRefusal, EmptyBlock) {
  EXPECT_THAT(refusal({.grid = 1, .block = {8, 8, 0}}),
              HasSubstr("every block extent must be at least 1"));
}

TEST(LaunchRefusal, GridTooLarge) {
  EXPECT_THAT(refusal({.grid = 2147483648u, .block = 1}),
              HasSubstr("grid.x is limited to 2147483647"));
  EXPECT_THAT(refusal({.grid = {1, 65536}, .block = 1}),
              HasSubstr("grid.y and grid.z are limited to 65535"));
  EXPECT_THAT(refusal({.grid = {1, 1, 65536}, .block = 1}),
              HasSubstr("grid.y and grid.z are limited to 65535"));
}

TEST(LaunchRefusal, BlockTooLarge) {
  const auto limit = HasSubstr("a block is limited to 1024 threads and 64 along z");
  EXPECT_THAT(refusal({.grid = 1, .block = 1025}), limit);
  EXPECT_THAT(refusal({.grid = 1, .block = {32, 33}}), limit);
  EXPECT_THAT(refusal({.grid = 1, .block = {1, 1, 65}}), limit);
  EXPECT_THAT(refusal({.grid = 1, .block = {65536, 65536}}), limit); // 2^32 wraps to 0
  EXPECT_THAT(refusal({.grid = 1, .block = {1, 1025}}), limit);
}

TEST(LaunchRefusal, TooMuchSharedMemory) {
  const std::size_t most = device_properties().shared_bytes_per_block_optin;
  EXPECT_THAT(refusal({.grid = 1, .block = 1, .shared_bytes = most + 1}),
              HasSubstr("dynamic shared memory is limited to 166912 bytes"));
}

// KERNELGRADE_VIRTUAL_DEVICE is read once per process: each text gets a process of its own.
TEST(VirtualDeviceDeathTest, SmallOneRefusesEarlier) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto print_refusal = [](const char* text, const LaunchConfig& config) {
    setenv("KERNELGRADE_VIRTUAL_DEVICE", text, 1);
    std::fprintf(stderr, "%s", refusal(config).c_str());
    std::exit(0);
  };
  EXPECT_EXIT(print_refusal("small", {.grid = {1, 1024}, .block = 1}), testing::ExitedWithCode(0),
              "grid.y and grid.z are limited to 1023");
  EXPECT_EXIT(print_refusal("small", {.grid = 1, .block = 1, .shared_bytes = 65537}),
              testing::ExitedWithCode(0), "dynamic shared memory is limited to 65536 bytes");
  EXPECT_EXIT(print_refusal("tiny", {.grid = 1, .block = 1}), testing::ExitedWithCode(0),
              "KERNELGRADE_VIRTUAL_DEVICE is \"tiny\"; use small or sm_90a, or leave it unset");
}

TEST(VirtualDeviceDeathTest, HopperHasItsSharedMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto print_refusal = [] {
    setenv("KERNELGRADE_VIRTUAL_DEVICE", "sm_90a", 1);
    std::fprintf(stderr, "%d: %s", compute_capability(),
                 refusal({.grid = 1, .block = 1, .shared_bytes = 227 * 1024 + 1}).c_str());
    std::exit(0);
  };
  EXPECT_EXIT(print_refusal(), testing::ExitedWithCode(0),
              "90: .*dynamic shared memory is limited to 232448 bytes");
}

TEST(HopperDevice, IsPresentedWhileItLives) {
  const DeviceProperties before = device_properties();
  {
    const HopperDevice outer;
    { const HopperDevice inner; }
    EXPECT_EQ(compute_capability(), 90);
    EXPECT_EQ(device_properties().sm_count, before.sm_count);
    EXPECT_THAT(refusal({.grid = 1, .block = 1, .shared_bytes = 227 * 1024 + 1}),
                HasSubstr("dynamic shared memory is limited to 232448 bytes"));
    int of_another_thread = 0;
    std::thread([&] { of_another_thread = compute_capability(); }).join();
    EXPECT_EQ(of_another_thread, 80);
  }
  EXPECT_EQ(compute_capability(), 80);
  EXPECT_EQ(device_properties().shared_bytes_per_sm, before.shared_bytes_per_sm);
}

TEST(LaunchRefusal, Clusters) {
  const auto size = HasSubstr("a cluster has 1 to 8 blocks");
  EXPECT_THAT(refusal({.grid = 16, .block = 1, .cluster = {16, 1, 1}}), size);
  EXPECT_THAT(refusal({.grid = 16, .block = 1, .cluster = {0, 1, 1}}), size);
  // 2^32 blocks wrap to 0.
  EXPECT_THAT(refusal({.grid = {1u << 30, 4}, .block = 1, .cluster = {1u << 30, 4, 1}}), size);
  EXPECT_THAT(refusal({.grid = 9, .block = 1, .cluster = {2, 1, 1}}),
              HasSubstr("the grid must be a multiple of the cluster (2,1,1)"));
}

TEST(LaunchRefusal, CooperativeGridTooLarge) {
  EXPECT_THAT(refusal({.grid = {13, 5}, .block = 1, .cooperative = true}),
              HasSubstr("a cooperative grid is limited to 64 blocks"));
}

TEST(LaunchRefusal, LimitsThemselvesAreAllowed) {
  std::vector<int> data(1024);
  const std::size_t most = device_properties().shared_bytes_per_block_optin;
  EXPECT_NO_THROW(
      launch(step<int, 1>, {.grid = 1, .block = 1024, .shared_bytes = most}, data.data()));
  EXPECT_NO_THROW(launch(hidden, {.grid = {1, 65535}, .block = {1, 1, 64}}));
  EXPECT_NO_THROW(launch(hidden, {.grid = {2, 2, 4}, .block = 1, .cluster = {2, 2, 2}}));
}

// --- A kernel that launches ---

__global__ void launches_another(LaunchConfig config) { launch(hidden, config); }

TEST(LaunchRefusal, DynamicParallelism) {
  for (const LaunchConfig& inner :
       {LaunchConfig{.grid = 1, .block = 1}, LaunchConfig{.grid = 64, .block = 1},
        LaunchConfig{.grid = 2, .block = 1, .cooperative = true}}) {
    EXPECT_THAT(error_of([&] { launch(launches_another, {.grid = 1, .block = 1}, inner); }),
                AllOf(HasSubstr("launch_test.cu"), HasSubstr("dynamic parallelism")));
  }
}

} // namespace
} // namespace kg::executor
