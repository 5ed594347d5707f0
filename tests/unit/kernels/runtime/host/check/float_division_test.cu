// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Division of floating-point numbers by zero: built with and without FLOAT_DIVISION.
#include "tests/unit/kernels/runtime/host/check/finding.h"

namespace kg::test {
namespace {

#if KG_FLOAT_DIVISION_ASKED
constexpr bool kAsked = true;
#else
constexpr bool kAsked = false;
#endif

template <class T>
__global__ void divide(T* out, T a, T b) {
  *out = a / b;
}

template <class T>
std::string division(T a, T b) {
  const DeviceBuffer<T> out(1);
  return finding(divide<T>, {1, 1}, out.data(), a, b);
}

TEST(FloatDivision, ByZeroIsAFindingWhereItIsAskedFor) {
  const std::string of_floats = division(1.5f, 0.0f), of_doubles = division(-2.0, -0.0);
  if (!kAsked) {
    EXPECT_THAT(of_floats, IsEmpty());
    EXPECT_THAT(of_doubles, IsEmpty());
    return;
  }
  EXPECT_THAT(of_floats,
              AllOf(testing::StartsWith("[arithmetic] kernel "), HasSubstr("division: 1.5 / 0"),
                    HasSubstr("float_division_test.cu:")));
  EXPECT_THAT(of_doubles, HasSubstr("division: -2 / -0"));
}

TEST(FloatDivision, ByOtherNumbersIsNone) {
  EXPECT_THAT(division(1.0f, 1e-45f), IsEmpty());
  EXPECT_THAT(division(0.0, 3.0), IsEmpty());
}

} // namespace
} // namespace kg::test
