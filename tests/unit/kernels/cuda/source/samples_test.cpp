// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A CUDA source that nobody changed, against what its kernels should compute.
#include "tests/unit/kernels/cuda/source/samples.h"

#include <gtest/gtest.h>
#include <numeric>

namespace {

TEST(Samples, TemplatesWithTheirOwnTypesOfDynamicSharedMemory) {
  std::vector<double> doubles(1000);
  std::iota(doubles.begin(), doubles.end(), 0.5);
  EXPECT_EQ(samples::sum(doubles), 1000 * 999 / 2 + 500.0);
  std::vector<long long> integers(777, 3'000'000'000);
  EXPECT_EQ(samples::sum(integers), 777 * 3'000'000'000);
}

TEST(Samples, LaunchInAHeaderWithDeducedArguments) {
  std::vector<short> values(100);
  std::iota(values.begin(), values.end(), short{1});
  ASSERT_TRUE(samples::reverse(values));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(values[i], 100 - i);
}

TEST(Samples, StaticSharedMemoryAndTwoDimensions) {
  constexpr int kRows = 37, kColumns = 50;
  std::vector<float> in(kRows * kColumns), out(in.size(), -1);
  std::iota(in.begin(), in.end(), 0.0f);
  ASSERT_TRUE(samples::transpose(in, out, kRows, kColumns));
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) ASSERT_EQ(out[c * kRows + r], in[r * kColumns + c]);
  }
}

TEST(Samples, ConstantMemoryAndALaunchInAMacro) {
  std::vector<float> values(600);
  for (int i = 0; i < 600; ++i) values[i] = static_cast<float>(i % 13);
  const std::vector<float> in = values;
  ASSERT_TRUE(samples::filter(values, {1, 2, 4}));
  for (int i = 0; i < 600; ++i) {
    const float before = i > 0 ? in[i - 1] : 0, after = i < 599 ? in[i + 1] : 0;
    ASSERT_EQ(values[i], before + 2 * in[i] + 4 * after) << i;
  }
}

TEST(Samples, CooperativeLaunchByAddressAndByAttribute) {
  std::vector<int> values(500);
  std::iota(values.begin(), values.end(), 1);
  for (bool by_attribute : {false, true}) {
    int sum = 0;
    ASSERT_TRUE(samples::grid_sum(values, by_attribute, &sum));
    EXPECT_EQ(sum, 500 * 501 / 2 + 42);
  }
}

TEST(Samples, Halves) {
  std::vector<float> in(100), out(100);
  std::iota(in.begin(), in.end(), 0.0f);
  ASSERT_TRUE(samples::halves(in, out));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(out[i], (i + 1) * 0.5f);
}

TEST(Samples, CodeForTheDeviceAlone) { EXPECT_EQ(samples::maximum({3, 17, 5}), 17); }

TEST(Samples, ArgumentsInBraces) { EXPECT_EQ(samples::in_braces(30, 4), 1022); }

TEST(Samples, Printf) {
  testing::internal::CaptureStdout();
  const bool ran = samples::printed(17);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "kernel says 17\n");
  EXPECT_TRUE(ran);
}

TEST(Samples, ManagedMemoryAndEvents) { EXPECT_EQ(samples::managed_and_timed(100), 200); }

} // namespace
