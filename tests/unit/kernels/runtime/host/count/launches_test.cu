// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the counters take for a launch, and that they count it alike every time.
#include "tests/unit/kernels/runtime/host/count/counting.h"

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
  add(launch.unique_read, launch.unique_written, launch.barriers, launch.barrier_phases,
      launch.round_trips);
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

// The blocks of a cluster and their threads are gone before the next cluster begins, which may find
// its stacks where their shared memory was.
TEST_P(Counters, ClustersBehindOneAnother) {
  constexpr unsigned kBlocks = 128, kWarps = 2;
  const auto y = buffer<float>(kBlocks * kWarps * 32);
  const LaunchConfig config{
      .grid = kBlocks, .block = kWarps * 32, .shared_bytes = kWarps * 32 * 4, .cluster = 2};
  const Launch launch = counted(meet_in_clusters, config, y.data());
  for (const Access access : {Access::load, Access::store}) {
    const Site shared = total(launch, Memory::shared, access);
    EXPECT_EQ(shared.requests, kBlocks * kWarps);
    EXPECT_EQ(shared.lanes, kBlocks * kWarps * 32);
  }
  EXPECT_EQ(text(counted(meet_in_clusters, config, y.data())), text(launch));
}

// Loads up to the next store, update or meeting of the thread are one round trip.
TEST_P(Counters, RoundTrips) {
  const auto x = buffer<float>(4096);
  const auto y = buffer<float>(4096);
  const auto trips = [&](auto kernel, const LaunchConfig& config, auto... more) {
    return counted(kernel, config, x.data(), y.data(), more...).round_trips;
  };
  EXPECT_EQ(trips(copy_strided, {.grid = 1, .block = 64}, 1), 1u);
  EXPECT_EQ(trips(copy_strided, {.grid = 3, .block = 64}, 1), 3u) << "of each block";
  EXPECT_EQ(trips(copy_guarded, {.grid = 2, .block = 64}, 64), 1u) << "a block that only ends";
  EXPECT_EQ(trips(triangle, {.grid = 1, .block = 32}), 1u) << "all are under way together";
  EXPECT_EQ(trips(rounds, {.grid = 1, .block = 32}, false), 2u) << "__syncwarp stands between";
  EXPECT_EQ(trips(half_warps, {.grid = 1, .block = 32}), 1u);
  EXPECT_EQ(trips(one_half_shuffles, {.grid = 1, .block = 32}), 2u) << "of the upper half-warp";
  EXPECT_EQ(trips(transpose_padded, {.grid = 1, .block = dim3(32, 32)}), 1u)
      << "a store to shared memory waits, loads from there do not count";
  EXPECT_EQ(counted(copy_async, {.grid = 1, .block = 32, .shared_bytes = 512},
                    reinterpret_cast<const float4*>(x.data()), reinterpret_cast<float4*>(y.data()),
                    4)
                .round_trips,
            0u)
      << "asynchronous copies";
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
