// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/roof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::judge {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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

DeviceFile device(std::map<std::string, double> ceilings) {
  DeviceFile result;
  result.ceilings = std::move(ceilings);
  return result;
}

TEST(Roof, IsTwoPercentAboveTheMeasuredCeiling) {
  EXPECT_EQ(beyond_roof(row(Mode::cold), device({{"dram_bytes_per_s", 0.981e9}})), "");
  EXPECT_THAT(beyond_roof(row(Mode::cold), device({{"dram_bytes_per_s", 0.979e9}})),
              AllOf(HasSubstr("1e+09 bytes per second"), HasSubstr("roof of 9.79e+08"),
                    HasSubstr("the work was not done")));
}

TEST(Roof, OfMemoryIsForColdRowsOnly) {
  for (const Mode mode : {Mode::hot, Mode::graph, Mode::real})
    EXPECT_EQ(beyond_roof(row(mode), device({{"dram_bytes_per_s", 1e8}})), "") << name(mode);
}

TEST(Roof, OfArithmeticIsTheHigherOfTheTypes) {
  EXPECT_THAT(beyond_roof(row(Mode::hot), device({{"f16_flops_per_s", 3e9}})),
              HasSubstr("4e+09 floating-point"));
  EXPECT_EQ(beyond_roof(row(Mode::hot),
                        device({{"f16_flops_per_s", 3e9}, {"f16_matrix_flops_per_s", 4e9}})),
            "");
  EXPECT_EQ(beyond_roof(row(Mode::hot), device({{"f32_flops_per_s", 1}})), "");
}

TEST(Roof, IsNotCheckedWhereThereIsNoneOrNoTime) {
  EXPECT_EQ(beyond_roof(row(Mode::cold), {}), "");
  Measured wrong = row(Mode::cold);
  wrong.verified = "element 1 is 2";
  EXPECT_EQ(beyond_roof(wrong, device({{"dram_bytes_per_s", 1}})), "");
  EXPECT_EQ(beyond_roof(Measured{}, device({{"dram_bytes_per_s", 1}})), "");
}

} // namespace
} // namespace kg::judge
