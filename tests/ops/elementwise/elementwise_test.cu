// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to elementwise; its card configures those of every operation.
#include "ops/elementwise/elementwise.h"

#include <cmath>

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"
#include "tests/support/huge_in_place.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

using elementwise::Op;

std::vector<Op> ops(Dtype dtype) {
  std::vector<Op> supported;
  for (const Op op : elementwise::kOps)
    if (elementwise::supports(op, dtype)) supported.push_back(op);
  return supported;
}

Sample sample(Op op, const std::string& fill, test::Observed a, test::Observed b) {
  return {fill,
          std::string(name(op)) + "_n" + std::to_string(a.values.size()),
          {{"a", std::move(a)}, {"b", std::move(b)}}};
}

// Every bit pattern of a 16-bit type, and as many of a wider one, spread over all kinds, as either
// operand with one of another kind.
KG_OWN_TEST(AllPatterns) {
  const Dtype dtype = judge.dtype();
  const auto a = size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, 1 << 16);
  const auto b = test::permuted_rows(a, test::permutation(std::ssize(a)));
  for (const Op op : ops(dtype))
    judge.check(sample(op, "all_bits", bits(dtype, a), bits(dtype, b)));
}

// Results in the subnormal range, which must neither be flushed nor rounded twice.
KG_OWN_TEST(SubnormalResults) {
  const Dtype dtype = judge.dtype();
  if (is_integer(dtype)) return;
  const test::FloatFormat format = test::float_format(dtype);
  const test::Random random(test::seed(), 17);
  for (const Op op : ops(dtype)) {
    std::vector<double> a, b;
    for (std::int64_t i = 0; i < kOdd; ++i) {
      const auto index = static_cast<std::uint64_t>(2 * i);
      // Of the result: from half the smallest subnormal to the smallest normal number.
      const auto exponent = static_cast<int>(
          random.integer(index, format.min_exponent - format.precision, format.min_exponent));
      const int shift = op == Op::mul ? -12 : op == Op::div ? 12 : exponent;
      const int own = op == Op::mul   ? exponent - shift
                      : op == Op::div ? exponent + shift
                                      : exponent;
      a.push_back(test::round_to(dtype, std::ldexp(1.5 + random.uniform(index) / 2, own)));
      b.push_back(test::round_to(
          dtype, random.sign(index) * std::ldexp(1.5 + random.uniform(index + 1) / 2, shift)));
    }
    judge.check(sample(op, "subnormal", values(dtype, a), values(dtype, b)));
  }
}

// Exchanged, negated and permuted operands.
KG_OWN_TEST(Relations) {
  constexpr std::int64_t kN = 4999;
  const Dtype dtype = judge.dtype();
  const std::vector<double> a = test::random_numbers(dtype, kN, test::Tensor::a).values;
  const std::vector<double> b = test::random_numbers(dtype, kN, test::Tensor::b).values;
  const std::vector<std::int64_t> order = test::permutation(kN);
  std::vector<double> negative;
  for (const double value : a) negative.push_back(-value);
  for (const Variant& variant : judge.card().variants)
    for (const Op op : ops(dtype)) {
      const auto of = [&](const std::vector<double>& x, const std::vector<double>& y) {
        return judge.run(variant.name, sample(op, "relation", values(dtype, x), values(dtype, y)))
            .outputs.at("out");
      };
      const test::Observed result = of(a, b);
      const std::string what = variant.name + ", " + std::string(name(op));
      EXPECT_EQ(of(test::permuted_rows(a, order), test::permuted_rows(b, order)).bits,
                test::permuted_rows(result.bits, order))
          << what << " of permuted operands";
      if (op == Op::add || op == Op::mul) {
        EXPECT_EQ(of(b, a).bits, result.bits) << what << ": a op b = b op a";
      }
      if (op == Op::mul || op == Op::div) {
        std::vector<std::uint64_t> expected = result.bits;
        for (std::uint64_t& each : expected)
          each ^= std::uint64_t{1} << (8 * size_of(dtype) - 1); // the sign
        EXPECT_EQ(of(negative, b).bits, expected) << what << ": (-a) op b = -(a op b)";
      }
    }
}

// Indices beyond 32 bits, in place: x + x.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kN = (std::int64_t{1} << 31) + 4099;
  KG_HUGE(static_cast<std::size_t>(kN) * size_of(judge.dtype()));
  const Problem problem =
      problem_of(judge.card(), judge.dtype(), {"x + x", "add_n" + std::to_string(kN)});
  const auto check = [&]<class T>() {
    for (const Variant& variant : judge.card().variants)
      test::expect_in_place<T>(
          variant.name, kN, 0x3C, [](double x) { return 2 * x; },
          [&](T* x) {
            Call call(problem);
            for (const char* const each : {"a", "b", "out"}) call.bind(each, x);
            variant.run(call, judge.stream());
          },
          judge.stream());
  };
  if (judge.dtype() == Dtype::f64) return check.operator()<double>();
  if (judge.dtype() == Dtype::i32) return check.operator()<int>();
  dispatch(judge.dtype(), check);
}

KG_OWN_TEST(RefusesOtherOps) {
  if (elementwise::supports(Op::div, judge.dtype())) return;
  const Problem problem = problem_of(judge.card(), judge.dtype(), {"", "div_n8"});
  const DeviceBuffer<double> data(8);
  Call call(problem);
  for (const char* const each : {"a", "b", "out"}) call.bind(each, data.data());
  LaunchRecorder recorder;
  for (const Variant& variant : judge.card().variants) {
    EXPECT_FALSE(variant.supports(problem));
    EXPECT_THROW(variant.run(call, judge.stream()), Error) << variant.name;
  }
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
