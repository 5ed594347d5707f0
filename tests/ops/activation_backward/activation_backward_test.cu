// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to activation_backward; its card configures those of every operation.
#include "ops/activation_backward/activation_backward.h"

#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/ops/activation_functions.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"
#include "tests/support/huge_in_place.h"
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

// Indices beyond 32 bits, dx = dy: for x = dy, the elements that relu passes.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kN = (std::int64_t{1} << 31) + 4099;
  KG_HUGE(static_cast<std::size_t>(kN) * size_of(judge.dtype()));
  dispatch(judge.dtype(), [&]<class T>() {
    for (const activation_backward::Variant variant : activation_backward::kVariants)
      test::expect_in_place<T>( // negative numbers except for the marks
          name(variant), kN, 0xBC, [](double x) { return x < 0 ? 0 : x; },
          [&](T* x) {
            activation_backward::run<T>(Function::relu, x, x, x, kN, variant, judge.stream());
          },
          judge.stream());
  });
}

} // namespace
} // namespace kg::card
