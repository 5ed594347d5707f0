// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels' memory costs, counted on the CPU. Counts are exact, so any increase fails.
#include "softmax.h"

#include "perf/code/cost/limits.h"
#include "runtime/host/count/counts.h"

#include <gtest/gtest.h>
#include <vector>

namespace {

TEST(SoftmaxCost, IsNoHigherThanBlessed) {
  constexpr int kRows = 4, kColumns = 1024;
  const std::vector<float> in(kRows * kColumns); // costs do not depend on the values
  std::vector<float> out(in.size());
  ASSERT_TRUE(softmax(in.data(), out.data(), kRows, kColumns, 3));

  constexpr double kMatrix = kRows * kColumns * sizeof(float) / 32; // sectors
  const std::string worse =
      kg::cost::exceeded(kg::count::take_launches(),
                         {
                             {"sectors_per_request", 4},      // 32 lanes read 128 contiguous bytes
                             {"unique_sectors", 4 * kMatrix}, // two kernels read and write
                             {"bank_conflict_degree", 1},
                             {"barriers", kRows * (2 * (1 + 7) + 1)}, // two trees of 7 levels
                         });
  EXPECT_TRUE(worse.empty()) << worse;
}

} // namespace
