// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to bias_gelu; its card configures those of every operation.
#include "ops/bias_gelu/bias_gelu.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

using bias_gelu::Form;

// A row and the bias exchanged, and rows in reverse order.
KG_OWN_TEST(Relations) {
  constexpr std::int64_t kRows = 83, kCols = 101;
  const Dtype dtype = judge.dtype();
  const std::vector<double> x = test::normal(dtype, kRows * kCols, test::Tensor::a).values;
  const std::vector<double> bias = test::normal(dtype, kCols, test::Tensor::b).values;
  const std::vector<double> row(x.begin(), x.begin() + kCols);
  std::vector<double> backwards;
  for (std::int64_t i = kRows - 1; i >= 0; --i)
    backwards.insert(backwards.end(), x.begin() + i * kCols, x.begin() + (i + 1) * kCols);
  for (const std::string form : {"erf", "tanh"})
    for (const Variant& variant : judge.card().variants) {
      const auto of = [&](const std::vector<double>& matrix, const std::vector<double>& added) {
        const Sample sample{"relation",
                            form + "_rows" + std::to_string(std::ssize(matrix) / kCols) + "_cols" +
                                std::to_string(kCols),
                            {{"x", values(dtype, matrix)}, {"bias", values(dtype, added)}}};
        return judge.run(variant.name, sample).bits("y");
      };
      EXPECT_EQ(of(bias, row), of(row, bias))
          << variant.name << ", " << form << ": a row and the bias exchanged";
      const std::vector<std::uint64_t> y = of(x, bias), reversed = of(backwards, bias);
      EXPECT_EQ(std::vector<std::uint64_t>(y.begin(), y.begin() + kCols),
                std::vector<std::uint64_t>(reversed.end() - kCols, reversed.end()))
          << variant.name << ", " << form << ": the first row as the last one";
    }
}

// Indices beyond 32 bits, in place, with and without rows of whole packs.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kRows = (1 << 15) + 1, kMostCols = (1 << 16) + 1;
  // A thread takes columns that are far apart, so a window of blocks is not a window of elements.
  KG_SKIP_IF_TOO_HUGE(static_cast<std::size_t>(kRows * kMostCols) * size_of(judge.dtype()));
  dispatch(judge.dtype(), [&]<class T>() {
    constexpr unsigned char kByte = 0xD8; // below -100 in each type: gelu is -0
    const auto value = [](double x) { return test::elements<T>(std::vector<double>{x})[0]; };
    for (const std::int64_t cols : {kMostCols - 1, kMostCols}) {
      const std::int64_t n = kRows * cols;
      std::vector<double> bias(static_cast<std::size_t>(cols), 0);
      test::Marks<T> before, after;
      double next = 128;
      for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf + 1, kHalf + 2, n - 2}) {
        bias[static_cast<std::size_t>(index % cols)] = next - 126;
        before[index] = value(next);
        after[index] = value(2 * next - 126);
        ++next;
      }
      const auto device_bias = DeviceBuffer<T>::from_host(test::elements<T>(bias), judge.stream());
      for (const bias_gelu::Variant variant : bias_gelu::kVariants) {
        const DeviceBuffer<T> x(n);
        fill_bytes(x.data(), kByte, x.bytes(), judge.stream());
        test::put(before, x, judge.stream());
        bias_gelu::run<T>(Form::erf, x.data(), device_bias.data(), x.data(), kRows, cols, variant,
                          judge.stream());
        EXPECT_TRUE(test::holds(x, value(-0.0), after, judge.stream()))
            << name(variant) << ", " << cols << " columns";
        EXPECT_NO_THROW(x.check_guards());
      }
    }
  });
}

// Arguments that the contract's problems cannot have: partially in place, the bias within y.
KG_OWN_TEST(RefusesMemoryThatOverlaps) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> memory(32), other(8);
    T* const p = memory.data();
    LaunchRecorder recorder;
    for (const bias_gelu::Variant variant : bias_gelu::kVariants) {
      const auto run = [&](const T* bias, T* y) {
        bias_gelu::run<T>(Form::tanh, p, bias, y, 2, 8, variant, judge.stream());
      };
      EXPECT_THROW(run(other.data(), p + 8), Error);
      EXPECT_THROW(run(p + 8, p), Error);
    }
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
