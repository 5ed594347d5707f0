// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What only activation_backward promises; what every operation does is in its card.
#include "activation_backward/activation_backward.h"

#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/ops/activation_functions.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

// Permuted, negated and scaled operands: the operation is linear in dy.
KG_OWN_TEST(Relations) {
  constexpr std::int64_t kN = 4999;
  const Dtype dtype = judge.dtype();
  const std::vector<double> x = test::normal(dtype, kN, test::Tensor::a).values;
  const std::vector<double> dy = test::integers(dtype, kN, 100, test::Tensor::b).values;
  std::vector<double> negative = x;
  for (double& value : negative) value = -value;
  const std::vector<std::int64_t> order = test::permutation(kN);
  for (const Variant& variant : judge.card().variants)
    for (const Function function : kFunctions) {
      const std::string what = variant.name + ", " + std::string(name(function)) + ": ";
      const auto of = [&](const std::vector<double>& first, const std::vector<double>& second) {
        return judge
            .run(variant.name, {"relation",
                                word_of(function) + "_n" + std::to_string(kN),
                                {{"x", values(dtype, first)}, {"dy", values(dtype, second)}}})
            .outputs.at("dx");
      };
      const test::Observed dx = of(x, dy);
      EXPECT_EQ(of(test::permuted_rows(x, order), test::permuted_rows(dy, order)).bits,
                test::permuted_rows(dx.bits, order))
          << what << "permuted operands permute dx";
      if (function == Function::sigmoid || function == Function::tanh) {
        EXPECT_EQ(of(negative, dy).bits, dx.bits) << what << "the slope is even";
      }
      EXPECT_EQ(of(x, test::scaled(dy, 1)).values, test::scaled(dx.values, 1))
          << what << "twice dy gives twice dx";
    }
}

// Indices beyond 32 bits, dx = dy: what relu lets through where x = dy.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kN = kHalf + 4099;
  KG_SKIP_IF_TOO_HUGE(static_cast<std::size_t>(kN) * size_of(judge.dtype()));
  dispatch(judge.dtype(), [&]<class T>() {
    constexpr unsigned char kByte = 0xBC; // a negative number of each type
    const auto value = [](double x) { return test::elements<T>(std::vector<double>{x})[0]; };
    for (const activation_backward::Variant variant : activation_backward::kVariants) {
      const DeviceBuffer<T> x(kN);
      fill_bytes(x.data(), kByte, x.bytes(), judge.stream());
      test::Marks<T> marks;
      double next = 3;
      for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1})
        marks[index] = value(next++);
      test::put(marks, x, judge.stream());
      activation_backward::run<T>(Function::relu, x.data(), x.data(), x.data(), kN, variant,
                                  judge.stream());
      EXPECT_TRUE(test::holds(x, value(0), marks, judge.stream())) << name(variant);
      EXPECT_NO_THROW(x.check_guards());
    }
  });
}

} // namespace
} // namespace kg::card
