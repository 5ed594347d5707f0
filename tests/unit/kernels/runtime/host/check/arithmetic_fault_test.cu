// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic that C++ leaves undefined, as it happens with indices of large tensors.
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include <climits>

namespace kg::test {
namespace {

class ArithmeticFaults : public Checkers {};
INSTANTIATE_TEST_SUITE_P(Orders, ArithmeticFaults, kOrders, order_name);

enum class Operation { add, subtract, multiply, negate, divide, remainder, shift };

__global__ void compute(int* out, Operation operation, int a, int b) {
  int result = 0;
  switch (operation) {
  case Operation::add: result = a + b; break;
  case Operation::subtract: result = a - b; break;
  case Operation::multiply: result = a * b; break;
  case Operation::negate: result = -a; break;
  case Operation::divide: result = b == 0 ? a : a / b; break;
  case Operation::remainder: result = b == 0 ? a : a % b; break;
  case Operation::shift: result = a << b; break;
  }
  *out = result;
}

class Compute : public ArithmeticFaults {
 protected:
  std::string run(Operation operation, int a, int b = 0) {
    const DeviceBuffer<int> out(1);
    return finding(compute, {1, 1}, out.data(), operation, a, b);
  }
};
INSTANTIATE_TEST_SUITE_P(Orders, Compute, testing::Values(Schedule{}), order_name);

TEST_P(Compute, WithinRange) {
  EXPECT_THAT(run(Operation::add, INT_MAX - 1, 1), IsEmpty());
  EXPECT_THAT(run(Operation::subtract, INT_MIN + 1, 1), IsEmpty());
  EXPECT_THAT(run(Operation::multiply, 1 << 15, 1 << 15), IsEmpty());
  EXPECT_THAT(run(Operation::negate, INT_MAX), IsEmpty());
  EXPECT_THAT(run(Operation::divide, INT_MIN, 1), IsEmpty());
  EXPECT_THAT(run(Operation::shift, 1, 30), IsEmpty());
}

TEST_P(Compute, Overflow) {
  EXPECT_THAT(run(Operation::add, INT_MAX, 1),
              AllOf(StartsWith("[arithmetic] kernel "), HasSubstr("signed overflow: "),
                    HasSubstr("2147483647"), HasSubstr("does not fit into 'int'"),
                    HasSubstr("arithmetic_fault_test.cu:"), HasSubstr("thread (0,0,0)")));
  EXPECT_THAT(run(Operation::subtract, INT_MIN, 1), HasSubstr("-2147483648 - 1"));
  EXPECT_THAT(run(Operation::multiply, 1 << 16, 1 << 16), HasSubstr("65536 * 65536"));
  EXPECT_THAT(run(Operation::negate, INT_MIN), HasSubstr("-(-2147483648)"));
}

TEST_P(Compute, Shift) {
  EXPECT_THAT(run(Operation::shift, 1, 32), HasSubstr("shift: 1 of type 'int' by 32"));
  EXPECT_THAT(run(Operation::shift, 1, -1), HasSubstr("by -1"));
}

constexpr int kWide = 1 << 20;
__global__ void index_in_int(const float* matrix, float* out, int row, int pitch) {
  *out = matrix[static_cast<unsigned>(row * pitch) % kWide];
}

// The classic: the product of two ints that is an index.
TEST_P(ArithmeticFaults, IndexOfALargeMatrix) {
  const auto matrix = filled<float>(kWide);
  const DeviceBuffer<float> out(1);
  EXPECT_THAT(finding(index_in_int, {1, 1}, matrix.data(), out.data(), 1000, 1000), IsEmpty());
  EXPECT_THAT(finding(index_in_int, {1, 1}, matrix.data(), out.data(), 70000, 70000),
              AllOf(StartsWith("[arithmetic]"), HasSubstr("70000 * 70000")));
}

} // namespace
} // namespace kg::test
