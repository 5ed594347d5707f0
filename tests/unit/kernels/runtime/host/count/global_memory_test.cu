// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests to global memory and their sectors, on kernels whose costs are known on paper; the
// comments are the paper.
#include "tests/unit/kernels/runtime/host/count/counting.h"

#include <gmock/gmock.h>

namespace kg::test {
namespace {

using count::Access;
using count::Launch;
using count::Memory;
using count::Site;
using testing::HasSubstr;

// 64 threads are 2 requests. 32 floats in a row are 128 bytes, 4 sectors; one in each sector, 32.
TEST_P(Counters, StridedLoads) {
  const auto x = buffer<float>(64 * 8);
  const auto y = buffer<float>(64);
  const struct {
    int stride;
    unsigned sectors, least, passes; // of both requests
  } kCases[] = {{0, 2, 2, 2}, {1, 8, 8, 2}, {2, 16, 8, 4}, {8, 64, 8, 16}};
  for (const auto& [stride, sectors, least, passes] : kCases) {
    const Launch launch =
        counted(copy_strided, {.grid = 1, .block = 64}, x.data(), y.data(), stride);
    const Site load = total(launch, Memory::global, Access::load);
    EXPECT_EQ(load.requests, 2u);
    EXPECT_EQ(load.lanes, 64u);
    EXPECT_EQ(load.sectors, sectors) << "stride " << stride;
    EXPECT_EQ(load.least_sectors, least) << "stride " << stride;
    const Site store = total(launch, Memory::global, Access::store);
    EXPECT_EQ(store.requests, 2u);
    EXPECT_EQ(store.sectors, 8u);
    EXPECT_EQ(load.l1_passes, passes) << "through L1's banks, at stride " << stride;
    EXPECT_EQ(store.l1_passes, 2u);
    EXPECT_EQ(launch.unique_read, stride == 0 ? 1 : sectors);
    EXPECT_EQ(launch.block_read, launch.unique_read) << "one block";
    EXPECT_EQ(launch.unique_written, 8u);
    EXPECT_THAT(load.line, HasSubstr("kernels.cu:"));
    EXPECT_THAT(launch.kernel, HasSubstr("copy_strided"));
  }
}

// Two blocks that load the same ask L2 for it twice, however often each does.
TEST_P(Counters, BlocksLoadForThemselves) {
  const auto x = buffer<float>(64);
  const auto y = buffer<float>(128);
  const Launch launch = counted(copy_strided, {.grid = 2, .block = 64}, x.data(), y.data(), 0);
  EXPECT_EQ(total(launch, Memory::global, Access::load).sectors, 4u);
  EXPECT_EQ(launch.unique_read, 1u);
  EXPECT_EQ(launch.block_read, 2u);
}

// Bytes 4 to 131 lie in 5 sectors, though 4 could hold them; the next request shares one of them.
TEST_P(Counters, MisalignedLoads) {
  const auto x = buffer<float>(65);
  const auto y = buffer<float>(64);
  const Launch launch = counted(copy_strided, {.grid = 1, .block = 64}, x.data() + 1, y.data(), 1);
  const Site load = total(launch, Memory::global, Access::load);
  EXPECT_EQ(load.sectors, 10u);
  EXPECT_EQ(load.least_sectors, 8u);
  EXPECT_EQ(launch.unique_read, 9u);
}

// 32 lanes of 16 bytes: 512 bytes, 16 sectors.
TEST_P(Counters, WideLoads) {
  const auto x = buffer<float4>(64);
  const auto y = buffer<float4>(64);
  const Launch launch = counted(copy_quads, {.grid = 2, .block = 32}, x.data(), y.data());
  for (const Access access : {Access::load, Access::store}) {
    const Site site = total(launch, Memory::global, access);
    EXPECT_EQ(site.width, 16u);
    EXPECT_EQ(site.requests, 2u);
    EXPECT_EQ(site.sectors, 32u);
    EXPECT_EQ(site.least_sectors, 32u);
  }
}

// 12 bytes move as three accesses of 4, each of which touches all 12 sectors of a warp's triples.
TEST_P(Counters, Triples) {
  const auto x = buffer<Triple>(32);
  const auto y = buffer<Triple>(32);
  const Launch launch = counted(copy_triples, {.grid = 1, .block = 32}, x.data(), y.data());
  for (const Access access : {Access::load, Access::store}) {
    const Site site = total(launch, Memory::global, access);
    EXPECT_EQ(site.width, 4u);
    EXPECT_EQ(site.requests, 3u);
    EXPECT_EQ(site.sectors, 36u);
    EXPECT_EQ(site.least_sectors, 12u);
  }
  EXPECT_EQ(launch.unique_read, 12u);
}

TEST_P(Counters, VolatileBroadcast) {
  const auto x = buffer<float>(1);
  const auto y = buffer<float>(32);
  const Launch launch = counted(broadcast, {.grid = 1, .block = 32}, x.data(), y.data());
  const Site load = total(launch, Memory::global, Access::load);
  EXPECT_EQ(load.requests, 1u);
  EXPECT_EQ(load.sectors, 1u);
  EXPECT_EQ(load.least_sectors, 1u);
}

// 40 of 64 threads: a whole warp, and 8 lanes of the next, whose 32 bytes are 1 sector.
TEST_P(Counters, LanesThatExit) {
  const auto x = buffer<float>(64);
  const auto y = buffer<float>(64);
  const Launch launch = counted(copy_guarded, {.grid = 1, .block = 64}, x.data(), y.data(), 40);
  const Site load = total(launch, Memory::global, Access::load);
  EXPECT_EQ(load.requests, 2u);
  EXPECT_EQ(load.lanes, 40u);
  EXPECT_EQ(load.sectors, 5u);
}

// One warp. A request for each operand and one for the result, as wide as their type: no access is
// lost because a call makes it.
TEST_P(Counters, ClassesInCalls) {
  const auto pairs = buffer<__half2>(32);
  const auto halves = buffer<f16>(32);
  const auto bfloats = buffer<bf16>(32);
  const auto floats = buffer<float>(128);
  const auto quads = buffer<float4>(32);
  const LaunchConfig warp{.grid = 1, .block = 32};
  const auto expect = [](const Launch& launch, Access access, unsigned width, unsigned requests) {
    const Site site = total(launch, Memory::global, access);
    EXPECT_EQ(site.width, width) << launch.kernel;
    EXPECT_EQ(site.requests, requests) << launch.kernel;
    EXPECT_EQ(site.lanes, 32 * requests) << launch.kernel;
    EXPECT_EQ(site.sectors, width * requests) << launch.kernel;
  };
  const auto expect_copy = [&](const Launch& launch, unsigned width) {
    expect(launch, Access::load, width, 1);
    expect(launch, Access::store, width, 1);
  };
  const Launch sum = counted(add_pairs, warp, pairs.data(), pairs.data(), pairs.data());
  expect(sum, Access::load, 4, 2);
  expect(sum, Access::store, 4, 1);
  expect_copy(counted(shuffle_halves, warp, halves.data(), halves.data()), 2);
  const Launch quad = counted(make_quads, warp, floats.data(), quads.data());
  expect(quad, Access::load, 4, 4);
  expect(quad, Access::store, 16, 1);
  expect_copy(counted(scale_halves, warp, bfloats.data(), bfloats.data()), 2);
  const Launch atomic = counted(add_halves, warp, halves.data(), halves.data());
  expect(atomic, Access::load, 2, 1);
  expect(atomic, Access::atomic, 2, 1);
}

} // namespace
} // namespace kg::test
