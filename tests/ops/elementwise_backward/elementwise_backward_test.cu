// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to elementwise_backward; its card configures those of every operation.
#include "ops/elementwise_backward/elementwise_backward.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_elementwise.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

using elementwise_backward::Op;

Sample sample(const std::string& op, const std::string& fill, test::Observed dy, test::Observed a,
              test::Observed b) {
  return {fill,
          op + "_n" + std::to_string(dy.values.size()),
          {{"dy", std::move(dy)}, {"a", std::move(a)}, {"b", std::move(b)}}};
}

test::Observed normals(Dtype dtype, test::Tensor tensor, std::int64_t n = kOdd) {
  return values(dtype, test::normal(dtype, n, tensor).values);
}

// The quotient's db in fp64, unrounded.
KG_OWN_TEST(RandomAgainstFp64) {
  const Dtype dtype = judge.dtype();
  const Sample quotient = sample("div", "normal, fp64", normals(dtype, test::Tensor::a),
                                 normals(dtype, test::Tensor::b), normals(dtype, test::Tensor::c));
  const auto of = [&](const char* name) { return quotient.inputs.find(name)->second.values; };
  const std::vector<double> dy = of("dy"), a = of("a"), b = of("b");
  std::vector<double> expected, tolerance;
  for (std::size_t i = 0; i < dy.size(); ++i) {
    expected.push_back(-dy[i] * a[i] / (b[i] * b[i]));
    tolerance.push_back(test::quotient_gradient_tolerance(dtype, expected[i]));
  }
  References references =
      judge.card().references(problem_of(judge.card(), dtype, quotient), quotient.inputs);
  references["db"] = {expected, [tolerance](std::string_view) { return tolerance; }};
  judge.check_against(quotient, references);
}

// Every bit pattern of a 16-bit type, and as many of f32, spread over all kinds, with two others.
KG_OWN_TEST(AllPatterns) {
  const Dtype dtype = judge.dtype();
  const auto all = size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, 1 << 16);
  const auto order = test::permutation(std::ssize(all));
  const auto once = test::permuted_rows(all, order);
  for (const char* const op : {"mul", "div"})
    judge.check(sample(op, "all_bits", bits(dtype, all), bits(dtype, once),
                       bits(dtype, test::permuted_rows(once, order))));
}

// Exchanged factors of a product, and permuted arguments.
KG_OWN_TEST(Relations) {
  constexpr std::int64_t kN = 4999;
  const Dtype dtype = judge.dtype();
  const test::Observed dy = normals(dtype, test::Tensor::a, kN),
                       a = normals(dtype, test::Tensor::b, kN),
                       b = normals(dtype, test::Tensor::c, kN);
  const std::vector<std::int64_t> order = test::permutation(kN);
  const auto permuted = [&](const test::Observed& x) {
    return values(dtype, test::permuted_rows(x.values, order));
  };
  for (const Variant& variant : judge.card().variants) {
    const Outcome product = judge.run(variant.name, sample("mul", "relation", dy, a, b));
    const Outcome exchanged = judge.run(variant.name, sample("mul", "relation", dy, b, a));
    EXPECT_EQ(product.bits("da"), exchanged.bits("db")) << variant.name << ": da of (a, b)";
    EXPECT_EQ(product.bits("db"), exchanged.bits("da")) << variant.name << ": db of (a, b)";
    const Outcome quotient = judge.run(variant.name, sample("div", "relation", dy, a, b));
    const Outcome moved =
        judge.run(variant.name, sample("div", "relation", permuted(dy), permuted(a), permuted(b)));
    for (const char* const each : {"da", "db"})
      EXPECT_EQ(moved.bits(each), test::permuted_rows(quotient.bits(each), order))
          << variant.name << ": " << each << " of permuted arguments";
  }
}

// Indices beyond 32 bits: dy = a = b, in place for da, so that both results are squares.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kN = kHalf + 4099;
  KG_HUGE(static_cast<std::size_t>(2 * kN) * size_of(judge.dtype()));
  dispatch(judge.dtype(), [&]<class T>() {
    const auto value = [](double x) { return test::elements<T>(std::vector<double>{x})[0]; };
    for (const elementwise_backward::Variant variant : elementwise_backward::kVariants) {
      const DeviceBuffer<T> x(kN), db(kN);
      fill_bytes(x.data(), 0, x.bytes(), judge.stream());
      test::Marks<T> before, after;
      double next = 3;
      for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
        before[index] = value(next);
        after[index] = value(next * next);
        ++next;
      }
      test::put(before, x, judge.stream());
      elementwise_backward::run<T>(Op::mul, x.data(), x.data(), x.data(), x.data(), db.data(), kN,
                                   variant, judge.stream());
      for (const DeviceBuffer<T>* const result : {&x, &db}) {
        EXPECT_TRUE(test::holds(*result, value(0), after, judge.stream())) << name(variant);
        EXPECT_NO_THROW(result->check_guards());
      }
    }
  });
}

// Overlapping gradients, which the contract's problems cannot have.
KG_OWN_TEST(RefusesGradientsThatMeet) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> memory(16), other(16);
    T* const p = memory.data();
    T* const q = other.data();
    LaunchRecorder recorder;
    for (const elementwise_backward::Variant variant : elementwise_backward::kVariants) {
      const auto run = [&](const T* b, T* da, T* db, std::int64_t n) {
        elementwise_backward::run<T>(Op::div, q, q, b, da, db, n, variant, judge.stream());
      };
      EXPECT_THROW(run(q, p, p, 8), Error) << "both gradients in one place";
      EXPECT_THROW(run(q, p, p + 4, 8), Error) << "gradients that overlap";
      EXPECT_THROW(run(p, p + 1, p + 8, 4), Error) << "in place in part";
    }
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
