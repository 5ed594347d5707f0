// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to axpy; its card configures those of every operation.
#include "ops/axpy/axpy.h"

#include <cmath>
#include <limits>

#include <gtest/gtest-spi.h>

#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle.h"
#include "tests/support/device_types.h"
#include "tests/support/huge_in_place.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

constexpr double kAlpha = 0.7F;

Sample sample(Dtype dtype, const std::string& fill, double alpha, std::vector<double> x,
              std::vector<double> y) {
  const std::string shape = "n" + std::to_string(x.size());
  return {fill,
          shape,
          {{"x", values(dtype, std::move(x))}, {"y", values(dtype, std::move(y))}},
          {{"alpha", alpha}}};
}

std::vector<double> normals(Dtype dtype, test::Tensor tensor, std::int64_t n = kOdd) {
  return test::normal(dtype, n, tensor).values;
}

// The contract checks every sample (Judge::check_against). This sample must be refused, since a
// kernel that writes only zeros would pass it.
KG_OWN_TEST(SampleOfZerosIsRefused) {
  const std::vector<double> zeros(kOdd);
  EXPECT_NONFATAL_FAILURE(judge.check(sample(judge.dtype(), "zeros", kAlpha, zeros, zeros)),
                          "zeros");
}

// y is -alpha x, as closely as the type allows. The remainder consists of the product's bits that a
// separate multiplication would round away.
KG_OWN_TEST(IsFused) {
  const Dtype dtype = judge.dtype();
  const std::vector<double> x = normals(dtype, test::Tensor::a);
  std::vector<double> y;
  std::vector<double> unfused;
  for (const double value : x) {
    const double product = kAlpha * value;
    y.push_back(test::round_to(dtype, -product));
    const double rounded = test::round_to(Dtype::f32, product) + y.back();
    unfused.push_back(test::round_to(dtype, test::round_to(Dtype::f32, rounded)));
  }
  const Sample cancelling = sample(dtype, "cancelling", kAlpha, x, y);
  const auto expected =
      judge.card().references(problem_of(judge.card(), dtype, cancelling), cancelling.inputs);
  int differs = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (unfused[i] != expected.at("out").value[i]) ++differs;
  EXPECT_GT(differs, kOdd / 1000) << "the data does not tell fused from not";
  judge.check(cancelling);
}

// alpha = 1 and -1 give the correctly rounded sum and difference; checked by another oracle.
KG_OWN_TEST(OneIsASum) {
  const Dtype dtype = judge.dtype();
  const std::vector<double> x = normals(dtype, test::Tensor::a);
  const std::vector<double> y = normals(dtype, test::Tensor::b);
  for (const double alpha : {1.0, -1.0}) {
    const auto op = alpha > 0 ? elementwise::Op::add : elementwise::Op::sub;
    judge.check_against(sample(dtype, "normal", alpha, x, y),
                        {{"out", {test::elementwise_oracle(op, dtype, y, x), {}}}});
  }
}

// Zero times a finite x is zero, and y passes; NaN and infinities of x also reach the result.
KG_OWN_TEST(ZeroReadsX) {
  const Dtype dtype = judge.dtype();
  std::vector<double> x = normals(dtype, test::Tensor::a);
  const std::vector<double> y = normals(dtype, test::Tensor::b);
  std::vector<double> expected = y;
  for (std::size_t i = 0; i < x.size(); i += 7) {
    x[i] = i % 2 == 0 ? std::numeric_limits<double>::infinity() : kNan;
    expected[i] = kNan;
  }
  for (const double alpha : {0.0, -0.0})
    judge.check_against(sample(dtype, "normal with NaN and infinity", alpha, x, y),
                        {{"out", {expected, {}}}});
}

// Every bit pattern of a 16-bit type, and as many of f32, spread over all kinds, paired with one of
// another kind.
KG_OWN_TEST(AllPatterns) {
  const Dtype dtype = judge.dtype();
  const auto x = size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, 1 << 16);
  const auto y = test::permuted_rows(x, test::permutation(static_cast<std::int64_t>(x.size())));
  judge.check(
      {"all bits", "n" + std::to_string(x.size()), {{"x", bits(dtype, x)}, {"y", bits(dtype, y)}}});
}

// Results in the subnormal range, which must not be flushed.
KG_OWN_TEST(SubnormalResults) {
  const Dtype dtype = judge.dtype();
  const test::FloatFormat format = test::float_format(dtype);
  const test::Random random(test::seed(), 19);
  constexpr int kShift = 12;
  std::vector<double> x;
  std::vector<double> y;
  for (std::int64_t i = 0; i < kOdd; ++i) {
    const auto index = static_cast<std::uint64_t>(2 * i);
    const auto exponent = static_cast<int>(
        random.integer(index, format.min_exponent - format.precision, format.min_exponent));
    const double size = 1.5 + random.uniform(index) / 2;
    x.push_back(test::round_to(dtype, std::ldexp(random.sign(index) * size, exponent + kShift)));
    y.push_back(test::round_to(dtype, std::ldexp(random.uniform(index + 1), exponent)));
  }
  judge.check(sample(dtype, "subnormal", static_cast<float>(std::ldexp(1.1, -kShift)), x, y));
}

// Permuted, negated and scaled arguments.
KG_OWN_TEST(Relations) {
  const Dtype dtype = judge.dtype();
  constexpr std::int64_t kN = 4999;
  const std::vector<double> x = normals(dtype, test::Tensor::a, kN);
  const std::vector<double> y = normals(dtype, test::Tensor::b, kN);
  const std::vector<std::int64_t> order = test::permutation(kN);
  std::vector<double> negated = x;
  for (double& value : negated) value = -value;
  for (const Variant& variant : judge.card().variants) {
    const auto of = [&](double alpha, const std::vector<double>& u, const std::vector<double>& v) {
      return judge.run(variant.name, sample(dtype, "relation", alpha, u, v)).outputs.at("out").bits;
    };
    const auto result = of(kAlpha, x, y);
    EXPECT_EQ(of(kAlpha, test::permuted_rows(x, order), test::permuted_rows(y, order)),
              test::permuted_rows(result, order))
        << variant.name << " of permuted arguments";
    EXPECT_EQ(of(-kAlpha, negated, y), result) << variant.name << ": (-alpha) (-x) + y";
    EXPECT_EQ(of(2 * kAlpha, test::scaled(x, -1), y), result)
        << variant.name << ": (2 alpha) (x / 2) + y";
  }
}

// Indices beyond 32 bits, in place: x + x.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kN = (std::int64_t{1} << 31) + 4099;
  KG_HUGE(static_cast<std::size_t>(kN) * size_of(judge.dtype()));
  dispatch(judge.dtype(), [&]<class T>() {
    for (const axpy::Variant variant : axpy::kVariants)
      test::expect_in_place<T>(
          name(variant), kN, 0x3C, [](double x) { return 2 * x; },
          [&](T* x) { axpy::run<T>(1, x, x, x, kN, variant, judge.stream()); }, judge.stream());
  });
}

} // namespace
} // namespace kg::card
