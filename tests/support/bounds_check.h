// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// For the self-tests of bounds: the comparator at 0.9 and 1.1 of a bound, and complete results of
// emulated arithmetic against their bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/oracle/compare.h"

namespace kg::test {

inline constexpr double kU32 = 0x1p-24;

// `by_hand` is the bound, computed independently. Errors of 0.9 of it must pass and of 1.1 must
// fail, with either sign.
inline void expect_bound(Dtype dtype, double expected, double tolerance, double by_hand) {
  EXPECT_NEAR(tolerance, by_hand, 1e-12 * by_hand);
  const std::vector<double> value = {expected}, bound = {tolerance};
  for (const double share : {0.9, -0.9, 1.1, -1.1}) {
    const Comparison result =
        compare({dtype, {expected + share * tolerance}, {}}, {dtype, {1}, value, bound});
    EXPECT_EQ(result.passed(), share * share < 1) << share;
  }
}

inline Comparison judge(Dtype dtype, const std::vector<double>& actual,
                        const std::vector<double>& expected, const std::vector<double>& tolerance) {
  return compare({dtype, actual, {}},
                 {dtype, {static_cast<std::int64_t>(expected.size())}, expected, tolerance});
}

} // namespace kg::test
