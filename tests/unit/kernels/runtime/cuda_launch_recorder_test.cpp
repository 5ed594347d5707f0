// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The record of launches and the names in it, on the cuda backend against the recording runtime.
#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/unit/kernels/runtime/recording_cudart.h"

#include <gmock/gmock.h>
#include <thread>

namespace kg {
namespace {

using detail::readable_kernel_name;

__global__ void first(int) {}
__global__ void second() {}

class CudaLaunchRecorder : public recording::RecordingTest {
 protected:
  void SetUp() override {
    RecordingTest::SetUp();
    recording::register_kernel(first, "_ZN2kg5firstEi");
    recording::register_kernel(second, "_ZN2kg6secondIfLi4EEEvPKf");
  }

  static std::vector<std::string> names(const LaunchRecorder& recorder) {
    std::vector<std::string> all;
    for (const LaunchRecord& record : recorder.launches()) all.push_back(record.kernel_name);
    return all;
  }
};

TEST_F(CudaLaunchRecorder, KeepsEverythingThatShapesALaunch) {
  const LaunchRecorder recorder;
  launch(first, {.grid = {2, 3, 4}, .block = {32, 2, 1}, .shared_bytes = 512, .cluster = {2, 1, 1}},
         1);
  launch(second, {.grid = 5, .block = 6, .cooperative = true});
  ASSERT_EQ(recorder.launches().size(), 2u);
  const LaunchRecord& one = recorder.launches()[0];
  EXPECT_EQ(one.kernel, reinterpret_cast<const void*>(first));
  EXPECT_EQ(one.kernel_name, "kg::first");
  EXPECT_EQ(one.grid.x, 2u);
  EXPECT_EQ(one.grid.y, 3u);
  EXPECT_EQ(one.grid.z, 4u);
  EXPECT_EQ(one.block.x, 32u);
  EXPECT_EQ(one.block.y, 2u);
  EXPECT_EQ(one.cluster.x, 2u);
  EXPECT_EQ(one.shared_bytes, 512u);
  EXPECT_FALSE(one.cooperative);
  const LaunchRecord& two = recorder.launches()[1];
  EXPECT_EQ(two.kernel_name, "kg::second<float, 4>");
  EXPECT_EQ(two.grid.x, 5u);
  EXPECT_EQ(two.block.x, 6u);
  EXPECT_EQ(two.cluster.x, 1u);
  EXPECT_TRUE(two.cooperative);
}

TEST_F(CudaLaunchRecorder, NestsAndTheInnermostRecords) {
  const LaunchRecorder outer;
  {
    const LaunchRecorder inner;
    launch(first, {.grid = 1, .block = 1}, 1);
    EXPECT_EQ(names(inner), std::vector<std::string>{"kg::first"});
  }
  launch(second, {.grid = 1, .block = 1});
  EXPECT_EQ(names(outer), std::vector<std::string>{"kg::second<float, 4>"});
}

TEST_F(CudaLaunchRecorder, LeavesOutLaunchesThatFailAndThoseOfOtherThreads) {
  const LaunchRecorder recorder;
  EXPECT_THROW(launch(second, {.grid = 0, .block = 1}), Error);
  recording::fail_call("cudaLaunchKernelExC", cudaErrorLaunchFailure);
  EXPECT_THROW(launch(second, {.grid = 1, .block = 1}), Error);
  std::thread([] { launch(second, {.grid = 1, .block = 1}); }).join();
  EXPECT_EQ(names(recorder), std::vector<std::string>{});
}

TEST_F(CudaLaunchRecorder, CostsNoNameWhenNobodyListens) {
  launch(second, {.grid = 1, .block = 1});
  EXPECT_THAT(recording::calls(),
              testing::Not(testing::Contains(testing::StartsWith("cudaFuncGetName"))));
}

TEST(KernelName, LosesItsReturnTypeAndParameters) {
  EXPECT_EQ(readable_kernel_name("_Z5scaleifPf"), "scale");
  EXPECT_EQ(readable_kernel_name("_ZN2kg6secondIfLi4EEEvPKf"), "kg::second<float, 4>");
  EXPECT_EQ(readable_kernel_name("_ZN12_GLOBAL__N_15scaleEi"), "(anonymous namespace)::scale");
  EXPECT_EQ(readable_kernel_name("_Z3mapIiEvPFivE"), "map<int>"); // takes int (*)()
  EXPECT_EQ(readable_kernel_name("_Z3mapIL4Kind1EEvi"), "map<(Kind)1>");
  EXPECT_EQ(readable_kernel_name("void_kernel"), "void_kernel"); // extern "C"
}

} // namespace
} // namespace kg
