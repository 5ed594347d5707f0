// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Expected values worked out by hand from the limits in occupancy.h.
#include "perf/code/resources/occupancy.h"

#include "runtime/error.h"

#include <gtest/gtest.h>

namespace kg::resources {
namespace {

int blocks(const char* arch, int registers, int shared, int threads) {
  return resident_blocks({registers, shared, threads}, sm_limits(arch));
}

TEST(Occupancy, WarpsAndBlocksLimit) {
  EXPECT_EQ(blocks("sm_80", 16, 0, 256), 8) << "64 warps";
  EXPECT_EQ(blocks("sm_80", 16, 0, 32), 32) << "block slots";
  EXPECT_EQ(blocks("sm_75", 16, 0, 32), 16);
  EXPECT_EQ(blocks("sm_89", 16, 0, 1024), 1) << "48 warps hold no second block of 32";
  EXPECT_EQ(blocks("sm_90a", 16, 0, 33), 32) << "two warps each";
  EXPECT_EQ(occupancy_pct({16, 0, 256}, sm_limits("sm_80")), 100);
  EXPECT_EQ(occupancy_pct({16, 0, 1024}, sm_limits("sm_86")), 100.0 * 32 / 48);
}

TEST(Occupancy, RegistersAreGivenToWarpsInUnits) {
  // 128 registers: 4096 per warp, 16 warps. 129: 4352 (17 units), 15.06 warps, 3 of each part: 12.
  EXPECT_EQ(blocks("sm_80", 128, 0, 128), 4);
  EXPECT_EQ(blocks("sm_80", 129, 0, 128), 3);
  EXPECT_EQ(blocks("sm_80", 255, 0, 256), 1);
  EXPECT_EQ(blocks("sm_80", 255, 0, 1024), 0) << "such a launch fails";
  // 169: 5632 (22 units), 2 of each part; without units there would be 3.
  EXPECT_EQ(blocks("sm_80", 169, 0, 64), 4);
  // The f32 gemm: 168 after rounding, 5376 per warp, 3 of each part, 2 warps per block.
  EXPECT_EQ(blocks("sm_90a", 164, 0, 64), 6);
  EXPECT_EQ(occupancy_pct({164, 0, 64}, sm_limits("sm_90a")), 18.75);
}

TEST(Occupancy, SharedMemoryCountsWithWhatTheSystemTakes) {
  // 164 KiB; a block of 40 KiB takes 41: 4 of them fill it to the byte, and one byte more is too
  // much.
  EXPECT_EQ(blocks("sm_80", 16, 40 * 1024, 64), 4);
  EXPECT_EQ(blocks("sm_80", 16, 40 * 1024 + 1, 64), 3);
  EXPECT_EQ(blocks("sm_80", 16, 32563, 64), 4) << "5 would fit but for the units of 128 bytes";
  EXPECT_EQ(blocks("sm_90a", 16, 227 * 1024, 64), 1);
  EXPECT_EQ(blocks("sm_75", 16, 32 * 1024, 64), 2) << "7.5 takes nothing";
}

TEST(Occupancy, AnUnknownArchitectureIsAnError) {
  EXPECT_EQ(sm_limits("sm_90a").arch, 90);
  for (const char* arch : {"sm_70", "90a", "", "sm_"}) EXPECT_THROW(sm_limits(arch), Error) << arch;
}

} // namespace
} // namespace kg::resources
