// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/roof.h"

#include "perf/judge/wording.h"

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

TEST(Roof, TheNearestIsNamed) {
  const auto nearest = [](const char* dtype, bool tf32, const Ceilings& ceilings) {
    Measured measured = row(Mode::cold);
    measured.dtype = dtype;
    measured.tf32 = tf32;
    return nearest_roof(measured, ceilings).value_or(RoofShare{}).roof;
  };
  const Ceilings ceilings = {{"dram_bytes_per_s", 1e10},
                             {"f32_flops_per_s", 1e10},
                             {"f32_matrix_flops_per_s", 2e10},
                             {"f16_matrix_flops_per_s", 2e10}};
  EXPECT_EQ(nearest("f32", false, ceilings), "f32");
  EXPECT_EQ(nearest("f32", true, ceilings), "Tensor Cores");
  EXPECT_EQ(nearest("f16", false, ceilings), "Tensor Cores");
  EXPECT_EQ(nearest("i8", false, ceilings), "memory");
  EXPECT_EQ(nearest("i8", false, {}), "");
}

TEST(Roof, WhatIsWrittenMayStayInTheCache) {
  Ceilings ceilings = {{"dram_bytes_per_s", 0.5e9}, {"l2_bytes", 600}};
  Measured copy = row(Mode::cold);
  copy.written = 500;
  EXPECT_EQ(beyond_roof(copy, ceilings), std::nullopt);
  EXPECT_DOUBLE_EQ(*roof_share(copy, ceilings), 1.0) << "500 read, all 500 written may stay";
  ceilings["l2_bytes"] = 100;
  EXPECT_THAT(beyond_roof(copy, ceilings), Optional(HasSubstr("180 %")));
  EXPECT_DOUBLE_EQ(*roof_share(copy, ceilings), 1.8) << "500 read, 400 of 500 written";
}

// 134 MB of f32 read in 30 us, rows of 1024 summed, on a GPU with an L2 of 50 MB: nearly all of it
// came from memory.
TEST(Roof, WhatIsReadComesFromMemory) {
  Measured sum = row(Mode::cold);
  take_samples(sum, std::vector<double>(10, 30e3));
  sum.flops = 0;
  sum.written = 131'072;
  sum.bytes = 134'217'728 + sum.written;
  const Ceilings ceilings = {{"dram_bytes_per_s", 4.5e12}, {"l2_bytes", 50e6}};
  EXPECT_NEAR(*roof_share(sum, ceilings), 134'217'728 / 30e-6 / 4.5e12, 1e-12); // 99.4 %
  Measured all = sum;
  all.written = all.bytes;
  EXPECT_NEAR(*roof_share(all, ceilings), 84'348'800 / 30e-6 / 4.5e12, 1e-12);
}

TEST(Roof, WhereNobodySaysWhatIsWrittenItMayBeAll) {
  const Ceilings ceilings = {
      {"dram_bytes_per_s", 0.5e9}, {"read_bytes_per_s", 1}, {"l2_bytes", 600}};
  EXPECT_EQ(beyond_roof(row(Mode::cold), ceilings), std::nullopt);
  EXPECT_DOUBLE_EQ(*roof_share(row(Mode::cold), ceilings), 0.8); // 400 bytes in 1 us
  EXPECT_EQ(roof_share(row(Mode::cold), {{"dram_bytes_per_s", 0.5e9}, {"l2_bytes", 1001}}),
            std::nullopt);
}

// Times per byte: 0.25 ns read, 0.3 added, 0.4 copied, 0.2 written.
TEST(Roof, OfMemoryIsThatOfTheMix) {
  const Ceilings ceilings = {{"dram_bytes_per_s", 5e9},
                             {"read_bytes_per_s", 4e9},
                             {"add_bytes_per_s", 1 / 0.3e-9},
                             {"copy_bytes_per_s", 2.5e9},
                             {"write_bytes_per_s", 5e9}};
  const auto share = [&](double bytes, double written, Ceilings known) {
    Measured mixed = row(Mode::cold);
    mixed.bytes = bytes;
    mixed.written = written;
    mixed.flops = 0;
    return *roof_share(mixed, known);
  };
  EXPECT_NEAR(share(900, 1e-9, ceilings), 0.225, 1e-9); // read: 900 x 0.25 ns
  EXPECT_NEAR(share(900, 300, ceilings), 0.27, 1e-9);   // two read for one written: x 0.3 ns
  EXPECT_DOUBLE_EQ(share(900, 450, ceilings), 0.36);    // copied: x 0.4 ns
  EXPECT_DOUBLE_EQ(share(900, 900, ceilings), 0.18);    // written: x 0.2 ns
  EXPECT_DOUBLE_EQ(share(1000, 750, ceilings), 0.3);    // halfway from copied to written
  EXPECT_NEAR(share(1200, 200, ceilings), 0.33, 1e-9);  // halfway from read to added
  Ceilings cached = ceilings;
  cached["l2_bytes"] = 450;
  EXPECT_DOUBLE_EQ(share(900, 450, cached), 0.1125) << "450 read, and nothing written that far";
  EXPECT_DOUBLE_EQ(share(900, 900, {{"copy_bytes_per_s", 2.5e9}}), 0.36) << "the nearest known";
  EXPECT_DOUBLE_EQ(share(900, 1, {{"copy_bytes_per_s", 2.5e9}}), 0.36);
  Measured fast = row(Mode::cold);
  fast.bytes = 5000;
  fast.written = 2500;
  EXPECT_EQ(beyond_roof(fast, ceilings), std::nullopt) << "no row is called impossible by its mix";
}

TEST(Roof, OfF32IsThatOfMultiplyAddsUnlessTheCaseSaysTf32) {
  const Ceilings ceilings = {{"f32_flops_per_s", 5e9}, {"f32_matrix_flops_per_s", 40e9}};
  Measured product = row(Mode::hot);
  product.dtype = "f32";
  EXPECT_DOUBLE_EQ(*roof_share(product, ceilings), 0.8);
  product.tf32 = true;
  EXPECT_DOUBLE_EQ(*roof_share(product, ceilings), 0.1);
  product.tf32 = false; // a transform that saves products
  product.flops = 8000;
  EXPECT_DOUBLE_EQ(*roof_share(product, ceilings), 1.6);
  EXPECT_EQ(beyond_roof(product, ceilings), std::nullopt);
}

TEST(Roof, OfArithmeticIsTheHigherOfTheTypes) {
  EXPECT_THAT(beyond_roof(row(Mode::hot), {{"f16_flops_per_s", 2.8e9}}),
              Optional(HasSubstr("4e+09 floating-point")));
  EXPECT_EQ(beyond_roof(row(Mode::hot), {{"f16_flops_per_s", 2.9e9}}), std::nullopt)
      << "38 % more than a ceiling that the power limit holds down";
  EXPECT_THAT(
      beyond_roof(row(Mode::cold), {{"f16_flops_per_s", 2.9e9}, {"dram_bytes_per_s", 0.9e9}}),
      Optional(HasSubstr("bytes per second are 111 %")))
      << "whatever share arithmetic has";
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
