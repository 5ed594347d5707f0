// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which lanes execute an instruction together, and where they meet, on kernels whose costs are
// known on paper; the comments are the paper.
#include "tests/unit/kernels/runtime/host/count/counting.h"

#include <gmock/gmock.h>

namespace kg::test {
namespace {

using count::Access;
using count::Launch;
using count::Memory;
using count::Site;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

// Each branch is a request of 16 lanes; every other float of 128 bytes still touches 4 sectors.
TEST_P(Counters, Branches) {
  const auto x = buffer<float>(32);
  const auto y = buffer<float>(32);
  const Launch launch =
      counted(branches, {.grid = 1, .block = 32}, x.data(), x.data(), y.data(), y.data());
  for (const Access access : {Access::load, Access::store}) {
    const Site site = total(launch, Memory::global, access);
    EXPECT_EQ(site.requests, 2u);
    EXPECT_EQ(site.lanes, 32u);
    EXPECT_EQ(site.sectors, 8u);
    EXPECT_EQ(site.least_sectors, 4u);
  }
}

// Round k (0 to 30) has the lanes above k: 31 + 30 + ... + 1 = 496, each round one address.
TEST_P(Counters, LoopsOfDifferentLength) {
  const auto x = buffer<float>(32);
  const auto y = buffer<float>(32);
  const Launch launch = counted(triangle, {.grid = 1, .block = 32}, x.data(), y.data());
  const Site load = total(launch, Memory::global, Access::load);
  EXPECT_EQ(load.requests, 31u);
  EXPECT_EQ(load.lanes, 496u);
  EXPECT_EQ(load.sectors, 31u);
}

// 64 threads on 4 bins: 8 lanes of each warp on each. A float's addition is one atomic, as an int's
// is. In shared memory lanes on one word share a pass.
TEST_P(Counters, AtomicContention) {
  const auto bins = buffer<float>(32);
  const auto sum = buffer<int>(1);
  for (const int count : {1, 4, 32}) {
    const auto bin_count = static_cast<unsigned>(count);
    const Launch launch =
        counted(histogram, {.grid = 1, .block = 64}, bins.data(), sum.data(), count);
    for (const Memory memory : {Memory::global, Memory::shared}) {
      const Site atomic = total(launch, memory, Access::atomic);
      EXPECT_EQ(atomic.requests, 2u);
      EXPECT_EQ(atomic.lanes, 64u);
      EXPECT_EQ(atomic.addresses, 2 * bin_count);
      EXPECT_EQ(atomic.most_lanes, 32 / bin_count);
    }
    EXPECT_EQ(total(launch, Memory::shared, Access::atomic).wavefronts, 2u);
    EXPECT_EQ(launch.unique_read, (bin_count + 7) / 8);
    EXPECT_EQ(launch.unique_written, (bin_count + 7) / 8 + 1); // and the total
  }
}

// Per block 3 barriers; per warp 5 shuffles and a ballot; 3 blocks of 2 warps.
TEST_P(Counters, BarriersAndCollectives) {
  const auto x = buffer<float>(3 * 64);
  const Launch launch = counted(meetings, {.grid = 3, .block = 64}, x.data());
  EXPECT_EQ(launch.barriers, 9u);
  EXPECT_THAT(launch.barriers_at, SizeIs(3));
  for (const auto& [line, count] : launch.barriers_at) {
    EXPECT_THAT(line, HasSubstr("kernels.cu:"));
    EXPECT_EQ(count, 3u);
  }
  EXPECT_THAT(launch.collectives,
              ElementsAre(Pair("__ballot_sync", 6), Pair("__shfl_xor_sync", 30)));
  EXPECT_EQ(total(launch, Memory::global, Access::load).requests, 6u);
}

// Lanes that have not executed an instruction as often as others are together with them again after
// they have met: per warp one address in each round.
TEST_P(Counters, MeetingsRealign) {
  const auto x = buffer<float>(64);
  const auto y = buffer<float>(64);
  for (const bool barrier : {false, true}) {
    const Launch launch = counted(rounds, {.grid = 1, .block = 64}, x.data(), y.data(), barrier);
    const Site load = total(launch, Memory::global, Access::load);
    EXPECT_EQ(load.requests, 4u);
    EXPECT_EQ(load.lanes, 96u);
    EXPECT_EQ(load.sectors, 4u);
    EXPECT_EQ(launch.barriers, barrier ? 2u : 0u);
  }
}

// Halves that shuffle among themselves still store together: 4 rounds are 4 requests.
TEST_P(Counters, HalfWarpsStayTogether) {
  const auto x = buffer<float>(32);
  const auto y = buffer<float>(32);
  const Launch launch = counted(half_warps, {.grid = 1, .block = 32}, x.data(), y.data());
  EXPECT_THAT(launch.collectives, ElementsAre(Pair("__shfl_xor_sync", 8)));
  EXPECT_EQ(total(launch, Memory::global, Access::store).requests, 4u);
  EXPECT_EQ(total(launch, Memory::global, Access::store).lanes, 128u);
}

// A shuffle of one half does not split what both halves read before it.
TEST_P(Counters, OneHalfShuffles) {
  const auto x = buffer<float>(64);
  const auto y = buffer<float>(32);
  const Launch launch = counted(one_half_shuffles, {.grid = 1, .block = 32}, x.data(), y.data());
  const Site load = total(launch, Memory::global, Access::load);
  EXPECT_EQ(load.requests, 2u);
  EXPECT_EQ(load.lanes, 48u);
}

} // namespace
} // namespace kg::test
