// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/flight.h"

#include "tests/unit/perf/code/sass/code.h"

#include <gmock/gmock.h>
#include <numeric>

namespace kg::sass {
namespace {

Flight flight(const std::vector<std::string>& lines, bool loop = false) {
  const Function made = test::function(lines);
  std::vector<std::size_t> path(made.code.size());
  std::iota(path.begin(), path.end(), std::size_t{0});
  return flight_of(made.code, path, loop);
}

const std::string kFirst = "LDG.E.128 R4, desc[UR8][R2.64]";
const std::string kSecond = "LDG.E.128 R8, desc[UR8][R2.64+0x800]";

TEST(Flight, LoadsInFrontOfTheFirstUseAreUnderWayTogether) {
  const Flight found = flight({kFirst, kSecond, "FADD R0, R4, R8", "FADD R1, R5, R9"});
  EXPECT_EQ(found.loads, 2);
  EXPECT_EQ(found.bytes, 32);
  EXPECT_EQ(found.round_trips, 1);
  EXPECT_EQ(found.most_bytes, 32);
  EXPECT_EQ(found.bytes_in_flight(), 32);
}

TEST(Flight, ALoadBehindAUseWaitsForIt) {
  const Flight found =
      flight({"//## File \"row.h\", line 25", kFirst, "//## File \"row.h\", line 27",
              "PRMT R0, R4, 0x7632, R0", kSecond, "FADD R1, R0, R11"});
  EXPECT_EQ(found.round_trips, 2);
  EXPECT_EQ(found.bytes_in_flight(), 16);
  ASSERT_EQ(found.waits.size(), 2u);
  EXPECT_EQ(found.waits[0].line, "row.h:25");
  EXPECT_EQ(found.waits[0].used_at, "row.h:27");
  EXPECT_EQ(found.waits[0].used_by, "PRMT");
  EXPECT_EQ(found.waits[0].bytes, 16);
}

TEST(Flight, ASecondUseOfLoadsIssuedTogetherIsNoRoundTrip) {
  EXPECT_EQ(flight({kFirst, kSecond, "FADD R0, R4, R4", "FADD R0, R8, R0"}).round_trips, 1);
}

TEST(Flight, OverwritingARegisterWaits) {
  EXPECT_EQ(flight({kFirst, "MOV R7, RZ", kSecond, "FADD R0, R8, R8"}).round_trips, 2);
}

TEST(Flight, WhatRunsOnlyWhereTheLoadDoesNotDoesNotWait) {
  EXPECT_EQ(flight({"@P0 " + kFirst, "@!P0 MOV R4, RZ", kSecond, "FADD R0, R4, R8"}).round_trips,
            1);
  EXPECT_EQ(flight({"@P0 " + kFirst, "ISETP.EQ.AND P0, PT, R0, RZ, PT", "@!P0 MOV R4, RZ", kSecond,
                    "FADD R0, R4, R8"})
                .round_trips,
            2)
      << "the predicate is another one";
}

TEST(Flight, ALoadAheadForTheNextPassCostsNoMore) {
  // Used at the beginning of the next pass: one wait per pass, with both under way.
  const Flight found = flight({"FADD R0, R4, R8", kFirst, kSecond, "FADD R1, R0, R1"}, true);
  EXPECT_EQ(found.round_trips, 1);
  EXPECT_EQ(found.loads, 2);
  EXPECT_EQ(found.bytes_in_flight(), 32);
}

TEST(Flight, CopiesToSharedMemoryAreWaitedForInGroups) {
  const std::string copy = "LDGSTS.E.BYPASS.128 [R5], desc[UR4][R6.64]";
  EXPECT_EQ(flight({copy, "LDGDEPBAR", "DEPBAR.LE SB0, 0x0"}, true).round_trips, 1);
  const Flight ahead = flight({"DEPBAR.LE SB0, 0x1", copy, "LDGDEPBAR"}, true);
  EXPECT_EQ(ahead.round_trips, 0.5) << "a copy has two passes' time";
  EXPECT_EQ(ahead.most_bytes, 32);
  EXPECT_EQ(ahead.bytes_in_flight(), 32);
}

} // namespace
} // namespace kg::sass
