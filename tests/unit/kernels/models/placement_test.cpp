// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/placement.h"

#include "runtime/error.h"
#include "tests/oracle/random.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Lifetime;
using models::place;
using models::Placement;

constexpr std::int64_t kPage = models::kAlignment;

TEST(Placement, TensorsThatNeverMeetShareMemory) {
  const Placement placement =
      place(std::vector<Lifetime>{{8 * kPage, 0, 1}, {8 * kPage, 2, 3}, {4 * kPage, 1, 2}});
  EXPECT_EQ(placement.offsets[0], placement.offsets[1]);
  EXPECT_EQ(placement.bytes, 12 * kPage);
  EXPECT_EQ(placement.most_live, 12 * kPage);
}

TEST(Placement, TheSmallestGapThatFitsIsTaken) {
  // While the last one lives, tensors 1 and 3 leave gaps of 4 and of 2 pages.
  const Placement placement = place(std::vector<Lifetime>{{9 * kPage, 0, 9},
                                                          {4 * kPage, 0, 1},
                                                          {3 * kPage, 0, 9},
                                                          {2 * kPage, 0, 1},
                                                          {1 * kPage, 0, 9},
                                                          {200, 5, 9}});
  EXPECT_EQ(placement.offsets[5], placement.offsets[3]);
}

TEST(Placement, WhatHasNoBytesTakesNone) {
  EXPECT_EQ(place(std::vector<Lifetime>{{0, 0, 3}, {kPage, 1, 2}, {0, 1, 1}}).bytes, kPage);
  EXPECT_EQ(place(std::vector<Lifetime>{}).bytes, 0);
}

TEST(Placement, RefusesWhatCannotLive) {
  EXPECT_THROW(place(std::vector<Lifetime>{{-1, 0, 1}}), Error);
  EXPECT_THROW(place(std::vector<Lifetime>{{1, 3, 2}}), Error);
}

TEST(Placement, NoTwoThatMeetOverlap) {
  for (std::uint64_t round = 0; round < 60; ++round) {
    const Random random(seed(), round);
    std::vector<Lifetime> lifetimes;
    std::int64_t unshared = 0;
    for (std::uint64_t i = 0; i < 80; ++i) {
      const std::int64_t first = random.integer(3 * i, 0, 40);
      lifetimes.push_back({random.integer(3 * i + 1, 0, 40 * kPage), first,
                           first + random.integer(3 * i + 2, 0, 12)});
      unshared += lifetimes.back().bytes + kPage;
    }
    const Placement placement = place(lifetimes);
    EXPECT_GE(placement.bytes, placement.most_live);
    EXPECT_LT(placement.bytes, unshared);
    for (std::size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(placement.offsets[a] % kPage, 0);
      EXPECT_LE(placement.offsets[a] + lifetimes[a].bytes, placement.bytes);
      for (std::size_t b = 0; b < a; ++b) {
        const bool meet =
            lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
        const bool overlap = placement.offsets[a] < placement.offsets[b] + lifetimes[b].bytes &&
                             placement.offsets[b] < placement.offsets[a] + lifetimes[a].bytes;
        ASSERT_FALSE(meet && overlap) << "round " << round << ": " << a << " and " << b;
      }
    }
  }
}

} // namespace
} // namespace kg::test
