// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The directed roundings of double: between what they give lies the exact result, or it is that.
#include <cuda_runtime.h>

#include <cmath>
#include <gtest/gtest.h>

namespace {

constexpr double kUnit = 0x1p-52, kHuge = 1.7976931348623157e308, kTiny = 5e-324;

#define EXPECT_ROUNDED(name, down, zero, up, ...)                                                  \
  EXPECT_EQ(name##_rd(__VA_ARGS__), down);                                                         \
  EXPECT_EQ(name##_rz(__VA_ARGS__), zero);                                                         \
  EXPECT_EQ(name##_ru(__VA_ARGS__), up)

TEST(Rounding, OfDoubles) {
  EXPECT_ROUNDED(__dadd, 1, 1, 1 + kUnit, 1, 0x1p-80);
  EXPECT_ROUNDED(__dadd, -1 - kUnit, -1, -1, -1, -0x1p-80);
  EXPECT_ROUNDED(__dadd, 3, 3, 3, 1, 2);
  EXPECT_ROUNDED(__dadd, kHuge, kHuge, HUGE_VAL, kHuge, 1);
  EXPECT_TRUE(std::signbit(__dadd_rd(1, -1)));
  EXPECT_FALSE(std::signbit(__dadd_ru(1, -1)));
  EXPECT_ROUNDED(__dsub, 1 - kUnit / 2, 1 - kUnit / 2, 1, 1, 0x1p-80);
  EXPECT_ROUNDED(__dmul, 1 + 2 * kUnit, 1 + 2 * kUnit, 1 + 3 * kUnit, 1 + kUnit, 1 + kUnit);
  EXPECT_ROUNDED(__dmul, 0, 0, kTiny, kTiny, 0.25);
  EXPECT_ROUNDED(__dmul, -kTiny, 0, 0, kTiny, -0.25);
  EXPECT_ROUNDED(__fma, kUnit * kUnit, kUnit * kUnit, kUnit * kUnit, 1 + kUnit, 1 + kUnit,
                 -1 - 2 * kUnit);
  EXPECT_ROUNDED(__fma, 4, 4, 4 + 4 * kUnit, 1, 4, kTiny);
  EXPECT_ROUNDED(__ddiv, 0x1.5555555555555p-2, 0x1.5555555555555p-2, 0x1.5555555555556p-2, 1, 3);
  EXPECT_ROUNDED(__ddiv, -0x1.5555555555556p-2, -0x1.5555555555555p-2, -0x1.5555555555555p-2, -1,
                 3);
  EXPECT_ROUNDED(__drcp, 0x1.999999999999ap-4 - 0x1p-56, 0x1.999999999999ap-4 - 0x1p-56,
                 0x1.999999999999ap-4, 10);
  EXPECT_ROUNDED(__dsqrt, 0x1.6a09e667f3bccp+0, 0x1.6a09e667f3bccp+0, 0x1.6a09e667f3bcdp+0, 2);
  EXPECT_EQ(1.0 + 0x1p-80, 1.0) << "the mode is the usual one again";
}

TEST(Rounding, OfFloats) {
  EXPECT_ROUNDED(__fdiv, 0x1.555554p-2f, 0x1.555554p-2f, 0x1.555556p-2f, 1, 3);
  EXPECT_ROUNDED(__frcp, 0x1.999998p-4f, 0x1.999998p-4f, 0x1.99999ap-4f, 10);
  EXPECT_ROUNDED(__fsqrt, 0x1.6a09e6p+0f, 0x1.6a09e6p+0f, 0x1.6a09e8p+0f, 2);
}

} // namespace
