// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the counters take for a launch, and that they count it alike every time.
#include "tests/counters/counting.h"

#include <string>

namespace kg::test {
namespace {

using count::Access;
using count::Launch;
using count::Memory;
using count::Site;

std::string text(const Launch& launch) {
  std::string result = launch.kernel;
  const auto add = [&](auto... values) { ((result += " " + std::to_string(values)), ...); };
  add(launch.unique_read, launch.unique_written, launch.barriers, launch.barrier_phases);
  for (const auto& [name, count] : launch.collectives) result += name + std::to_string(count);
  for (const Site& s : launch.sites) {
    result += "\n" + s.line;
    add(static_cast<int>(s.memory), static_cast<int>(s.access), s.width, s.requests, s.lanes,
        s.sectors, s.least_sectors, s.wavefronts, s.least_wavefronts, s.addresses, s.most_lanes);
  }
  return result;
}

std::string order_name(const testing::TestParamInfo<ThreadOrder>& info) {
  const std::string name = to_string(Schedule{.order = info.param});
  return name.substr(0, name.find(':'));
}
INSTANTIATE_TEST_SUITE_P(, Counters,
                         testing::Values(ThreadOrder::forward, ThreadOrder::reverse,
                                         ThreadOrder::random),
                         order_name);

TEST_P(Counters, EveryRunCountsTheSame) {
  const auto x = buffer<float>(1024);
  const auto y = buffer<float>(1024);
  const LaunchConfig config{.grid = 1, .block = dim3(32, 32)};
  const std::string first = text(counted(transpose_padded, config, x.data(), y.data()));
  EXPECT_EQ(text(counted(transpose_padded, config, x.data(), y.data())), first);
  const ScopedSchedule forward({.order = ThreadOrder::forward});
  EXPECT_EQ(text(counted(transpose_padded, config, x.data(), y.data())), first);
}

// A launch that fails is not counted, and leaves the next one's counts alone.
TEST_P(Counters, FailedLaunch) {
  const auto x = buffer<float>(64);
  const auto y = buffer<float>(64);
  count::take_launches();
  EXPECT_THROW(launch(copy_guarded, {.grid = 1, .block = 2048}, x.data(), y.data(), 64), Error);
  EXPECT_THROW(launch(copy_async, {.grid = 1, .block = 32, .shared_bytes = 512},
                      reinterpret_cast<const float4*>(x.data() + 1),
                      reinterpret_cast<float4*>(y.data()), 4),
               Error); // a misaligned source
  EXPECT_TRUE(count::take_launches().empty());
  const Launch next = counted(copy_strided, {.grid = 1, .block = 64}, x.data(), y.data(), 1);
  EXPECT_EQ(total(next, Memory::global, Access::load).requests, 2u);
  EXPECT_EQ(total(next, Memory::shared, Access::store).requests, 0u);
}

} // namespace
} // namespace kg::test
