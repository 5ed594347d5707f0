// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to activation; its card configures those of every operation.
#include "ops/activation/activation.h"

#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/ops/activation_functions.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"
#include "tests/support/huge_in_place.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

// Permuted and negated arguments.
KG_OWN_TEST(Relations) {
  constexpr std::int64_t kN = 4999;
  const Dtype dtype = judge.dtype();
  const std::vector<double> x = test::normal(dtype, kN, test::Tensor::a).values;
  std::vector<double> negative = x;
  for (double& value : negative) value = -value;
  const std::vector<std::int64_t> order = test::permutation(kN);
  for (const Variant& variant : judge.card().variants) {
    const auto of = [&](Function function, const std::vector<double>& arguments) {
      const Sample sample{"relation",
                          word_of(function) + "_n" + std::to_string(kN),
                          {{"x", values(dtype, arguments)}}};
      return judge.run(variant.name, sample).outputs.at("y");
    };
    for (const Function function : kFunctions)
      EXPECT_EQ(of(function, test::permuted_rows(x, order)).bits,
                test::permuted_rows(of(function, x).bits, order))
          << variant.name << ": " << name(function) << " of permuted arguments";
    std::vector<std::uint64_t> opposite = of(Function::tanh, x).bits;
    for (std::uint64_t& each : opposite) each ^= std::uint64_t{1} << (8 * size_of(dtype) - 1);
    EXPECT_EQ(of(Function::tanh, negative).bits, opposite)
        << variant.name << ": tanh(-x) = -tanh(x)";
    // max(x, 0) - max(-x, 0) = x, and the gates of x and -x add up to 1.
    for (const Function function :
         {Function::relu, Function::silu, Function::gelu, Function::gelu_tanh}) {
      const std::vector<double> right = of(function, x).values;
      const std::vector<double> left = of(function, negative).values;
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(right[i] - left[i], x[i], 4 * test::ulp(dtype, x[i]))
            << variant.name << ": " << name(function) << " of " << x[i];
    }
  }
}

// Indices beyond 32 bits, in place.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kN = (std::int64_t{1} << 31) + 4099;
  KG_HUGE(static_cast<std::size_t>(kN) * size_of(judge.dtype()));
  dispatch(judge.dtype(), [&]<class T>() {
    for (const activation::Variant variant : activation::kVariants)
      test::expect_in_place<T>( // negative numbers except for the marks
          name(variant), kN, 0xBC, [](double x) { return x < 0 ? 0 : x; },
          [&](T* x) { activation::run<T>(Function::relu, x, x, kN, variant, judge.stream()); },
          judge.stream());
  });
}

} // namespace
} // namespace kg::card
