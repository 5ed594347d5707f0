// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The executor's own clock on real, tiny kernels: counts are exact, times only plausible.
#include "perf/lab/profile/profile.h"
#include "perf/measure/sampling.h"
#include "runtime/buffer.h"
#include "runtime/host/launch_timer.h"
#include "runtime/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::profile::test {

__global__ void add_one(int* value) {
  if (threadIdx.x == 0) *value += 1;
}
__global__ void add_two(int* value) {
  if (threadIdx.x == 0) *value += 2;
}

namespace {

using testing::ElementsAre;

const judge::RowKey kKey = {"op.f32.n1", "plain", judge::Mode::real};

std::vector<const void*> kernels(const host::LaunchTimer& timer) {
  std::vector<const void*> found;
  for (const host::TimedLaunch& launch : timer.launches()) found.push_back(launch.kernel);
  return found;
}

class HostProfile : public testing::Test {
 protected:
  void launch_one() { launch(add_one, {.grid = 2, .block = 32, .stream = &stream}, value.data()); }
  void launch_two() { launch(add_two, {.grid = 1, .block = 32, .stream = &stream}, value.data()); }
  Stream stream;
  DeviceBuffer<int> value = DeviceBuffer<int>(1);
};

TEST_F(HostProfile, CountsLaunchesAndSplitsTheTime) {
  perf::Workload workload;
  workload.run = [&](Stream&) {
    launch_one();
    launch_two();
    launch_one();
  };
  const RowProfile row = profile_row(kKey, workload, stream, perf::steady_clock(), 5);
  EXPECT_EQ(row.runs, 5u);
  ASSERT_EQ(row.device.size(), 2u);
  double sum = 0;
  for (const Part& part : row.device) {
    const bool one = part.name == "kg::profile::test::add_one";
    EXPECT_TRUE(one || part.name == "kg::profile::test::add_two") << part.name;
    EXPECT_NEAR(part.launches, one ? 2 : 1, 1e-9);
    EXPECT_GT(part.min_ns, 0);
    EXPECT_LE(part.min_ns, part.mean_ns());
    EXPECT_LE(part.mean_ns(), part.max_ns);
    sum += part.total_ns;
  }
  EXPECT_LE(sum, row.wall_ns);
  EXPECT_NEAR(row.device_ns, sum, 1e-3 * sum); // one after another
  EXPECT_GE(row.host_ns(), 0);
  EXPECT_EQ(row.dropped, 0u);
}

TEST_F(HostProfile, ATimerSeesWhatRunsWhileItLivesAndNoMore) {
  launch_one();
  {
    const host::LaunchTimer timer;
    launch_one();
    launch_two();
    EXPECT_THAT(kernels(timer), ElementsAre(reinterpret_cast<const void*>(&add_one),
                                            reinterpret_cast<const void*>(&add_two)));
  }
  const host::LaunchTimer outer;
  {
    const host::LaunchTimer inner;
    launch_one();
    EXPECT_EQ(inner.launches().size(), 1u);
  }
  EXPECT_EQ(outer.launches().size(), 0u);
  launch_two();
  EXPECT_EQ(outer.launches().size(), 1u);
}

TEST_F(HostProfile, AGraphIsTimedWhenItRunsNotWhenItIsCaptured) {
  const host::LaunchTimer timer;
  Graph graph = Graph::capture(stream, [&](Stream&) { launch_one(); });
  EXPECT_EQ(timer.launches().size(), 0u);
  graph.launch(stream);
  graph.launch(stream);
  EXPECT_EQ(timer.launches().size(), 2u);
}

} // namespace
} // namespace kg::profile::test
