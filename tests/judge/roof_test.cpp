// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/roof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::judge {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

// 1000 bytes and 4000 operations in 1 us.
Measured row(Mode mode) {
  Measured result;
  result.dtype = "f16";
  result.key = {"copy.f16.n500", "plain", mode};
  result.bytes = 1000;
  result.flops = 4000;
  take_samples(result, std::vector<double>(10, 1000));
  return result;
}

TEST(Roof, IsTwoPercentAboveTheMeasuredCeiling) {
  EXPECT_EQ(beyond_roof(row(Mode::cold), {{"dram_bytes_per_s", 0.981e9}}), std::nullopt);
  EXPECT_THAT(beyond_roof(row(Mode::cold), {{"dram_bytes_per_s", 0.970e9}}),
              Optional(AllOf(HasSubstr("1e+09 bytes per second"),
                             HasSubstr("103 % of the device's measured roof of 9.7e+08"),
                             HasSubstr("the work was not done"))));
}

TEST(Roof, OfMemoryIsForColdRowsOnly) {
  for (const Mode mode : {Mode::hot, Mode::graph, Mode::real}) {
    EXPECT_EQ(beyond_roof(row(mode), {{"dram_bytes_per_s", 1e8}}), std::nullopt) << name(mode);
    EXPECT_EQ(roof_share(row(mode), {{"dram_bytes_per_s", 1e8}}), std::nullopt) << name(mode);
  }
  EXPECT_DOUBLE_EQ(*roof_share(row(Mode::cold), {{"dram_bytes_per_s", 4e9}}), 0.25);
}

TEST(Roof, WhatTheCacheMayHoldNeedNotPassTheMemory) {
  const Ceilings ceilings = {{"dram_bytes_per_s", 0.5e9}, {"l2_bytes", 600}};
  EXPECT_EQ(beyond_roof(row(Mode::cold), ceilings), std::nullopt);
  EXPECT_DOUBLE_EQ(*roof_share(row(Mode::cold), ceilings), 0.8); // 400 bytes in 1 us
  EXPECT_EQ(roof_share(row(Mode::cold), {{"dram_bytes_per_s", 0.5e9}, {"l2_bytes", 1001}}),
            std::nullopt);
}

TEST(Roof, OfArithmeticIsTheHigherOfTheTypes) {
  EXPECT_THAT(beyond_roof(row(Mode::hot), {{"f16_flops_per_s", 3e9}}),
              Optional(HasSubstr("4e+09 floating-point")));
  for (const char* higher : {"f16_flops_per_s", "f16_matrix_flops_per_s"}) {
    Ceilings ceilings = {{"f16_flops_per_s", 3e9}, {"f16_matrix_flops_per_s", 3e9}};
    ceilings[higher] = 8e9;
    EXPECT_EQ(beyond_roof(row(Mode::hot), ceilings), std::nullopt) << higher;
    EXPECT_DOUBLE_EQ(*roof_share(row(Mode::hot), ceilings), 0.5) << higher;
  }
  EXPECT_EQ(beyond_roof(row(Mode::hot), {{"f32_flops_per_s", 1}}), std::nullopt);
}

TEST(Roof, ShareIsThatOfWhatLimits) {
  EXPECT_DOUBLE_EQ(
      *roof_share(row(Mode::cold), {{"dram_bytes_per_s", 2e9}, {"f16_flops_per_s", 16e9}}), 0.5);
  EXPECT_DOUBLE_EQ(
      *roof_share(row(Mode::cold), {{"dram_bytes_per_s", 4e9}, {"f16_flops_per_s", 5e9}}), 0.8);
}

TEST(Roof, IsNotCheckedWhereThereIsNoneOrNoTime) {
  EXPECT_EQ(beyond_roof(row(Mode::cold), {}), std::nullopt);
  EXPECT_EQ(roof_share(row(Mode::cold), {}), std::nullopt);
  Measured untimed = row(Mode::cold);
  untimed.median_ns = 0;
  EXPECT_EQ(beyond_roof(untimed, {{"dram_bytes_per_s", 1}}), std::nullopt);
  EXPECT_EQ(roof_share(untimed, {{"dram_bytes_per_s", 1}}), std::nullopt);
}

} // namespace
} // namespace kg::judge
