// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to broadcast; its card configures those of every operation.
#include "ops/broadcast/broadcast.h"

#include <algorithm>
#include <limits>

#include "ops/broadcast/plan.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_elementwise.h"
#include "tests/support/device_types.h"
#include "tests/support/huge_in_place.h"
#include "tests/support/metamorphic.h"

namespace kg::test {

__global__ void divide(Divisor by, const std::int64_t* dividends, std::int64_t* quotients) {
  quotients[threadIdx.x] = by.quotient(dividends[threadIdx.x]);
}

} // namespace kg::test

namespace kg::card {

namespace {

using broadcast::Op;
using Extents = std::vector<std::int64_t>;

// Operands repeated in memory beforehand, and a result permuted together with its operands' rows.
KG_OWN_TEST(Relations) {
  const Dtype dtype = judge.dtype();
  for (const std::string& shape : judge.card().usual(dtype)) {
    const Sample sample{"relation", shape};
    const Problem problem = problem_of(judge.card(), dtype, sample);
    const Extents& out = problem.outputs[0].extents;
    Problem full = problem;
    Inputs repeated = completed(problem, {});
    for (Tensor& input : full.inputs) {
      repeated[input.name] =
          values(dtype, test::repeated_oracle(repeated.at(input.name).values, input.extents, out));
      input.extents = out;
    }
    judge.each_variant(sample, [&](const Variant& variant) {
      EXPECT_EQ(judge.run(variant.name, sample).bits("out"),
                judge.run(variant, full, repeated).bits("out"))
          << variant.name << ", " << shape << ": a op b = repeated a op repeated b";
    });
  }
  const std::vector<double> a = test::normal(dtype, 53 * 41, test::Tensor::a).values;
  const std::vector<double> b = test::normal(dtype, 53, test::Tensor::b).values;
  const std::vector<std::int64_t> order = test::permutation(53);
  for (const Variant& variant : judge.card().variants) {
    const auto of = [&](const std::vector<double>& x, const std::vector<double>& y) {
      const Inputs inputs = {{"a", values(dtype, x)}, {"b", values(dtype, y)}};
      return judge.run(variant.name, {"relation", "sub_a53.41_b53.1", inputs}).bits("out");
    };
    EXPECT_EQ(of(test::permuted_rows(a, order), test::permuted_rows(b, order)),
              test::permuted_rows(of(a, b), order))
        << variant.name << ": P a op P b = P (a op b)";
  }
}

// Indices beyond 32 bits, in place: rows of a prime length times 2.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kColumns = 4099;
  constexpr std::int64_t kRows = (std::int64_t{1} << 31) / kColumns + 5;
  constexpr std::int64_t kN = kRows * kColumns;
  KG_HUGE(static_cast<std::size_t>(kN) * size_of(judge.dtype()));
  dispatch(judge.dtype(), [&]<class T>() {
    const auto two = DeviceBuffer<T>::from_host(test::elements<T>(std::vector<double>(kColumns, 2)),
                                                judge.stream());
    const Extents shape = {kRows, kColumns}, row = {kColumns};
    for (const broadcast::Variant variant : broadcast::kVariants)
      test::expect_in_place<T>(
          name(variant), kN, 0x3C, [](double x) { return 2 * x; },
          [&](T* x) {
            broadcast::run<T>(Op::mul, x, shape, two.data(), row, x, variant, judge.stream());
          },
          judge.stream());
  });
}

// Shapes that are incompatible, and memory that repeated operands share.
KG_OWN_TEST(RefusesShapes) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(32), other(32);
    T* const p = data.data();
    T* const q = other.data();
    const Extents full = {4, 8}, row = {8}, wrong = {5}, deep(6, 1);
    LaunchRecorder recorder;
    for (const broadcast::Variant variant : broadcast::kVariants) {
      const auto run = [&](const T* a, const Extents& of_a, const T* b, const Extents& of_b,
                           T* out) {
        broadcast::run<T>(Op::add, a, of_a, b, of_b, out, variant, judge.stream());
      };
      EXPECT_THROW(run(p, full, q, wrong, p), Error);
      EXPECT_THROW(run(p, deep, q, row, p), Error);
      EXPECT_THROW(run(q, row, p + 1, row, p), Error) << "in place in part";
      EXPECT_THROW(run(q, full, p, row, p), Error) << "out is a repeated operand";
      EXPECT_THROW(run(q, full, p + 24, row, p), Error) << "out has a repeated operand in it";
    }
    EXPECT_TRUE(recorder.launches().empty());
  });
}

// The plans of the patterns that must be fast.
KG_OWN_TEST(MergesAxes) {
  const auto plan = [](const Extents& a, const Extents& b) { return broadcast::make_plan(a, b); };
  EXPECT_EQ(plan({2, 3, 4}, {2, 3, 4}).outer_axes, 0) << "equal shapes are one row";
  EXPECT_EQ(plan({2, 3, 4}, {}).outer_axes, 0) << "so is a scalar beside any shape";
  EXPECT_EQ(plan({2, 3, 4, 5}, {4, 5}).outer_axes, 1) << "bias over two axes";
  EXPECT_EQ(plan({2, 3, 4, 5}, {4, 5}).inner.extent.value, 20);
  EXPECT_EQ(plan({2, 3, 4, 5}, {1, 3, 1, 1}).outer_axes, 2) << "channels";
  EXPECT_EQ(plan({2, 3, 4, 5}, {2, 3, 1, 1}).outer_axes, 1) << "channels of each image";
  EXPECT_EQ(plan({1, 7, 1, 9, 1}, {1, 7, 1, 9, 1}).inner.extent.value, 63) << "ones do not count";
}

// Divisors around powers of two, dividends around their multiples.
KG_OWN_TEST(DivisorDivides) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> divisors = {1, 3, 641, 4099, 1000003, kMost};
  for (int bit = 1; bit < 63; bit += 5)
    for (const std::int64_t near : {-1, 0, 1})
      divisors.push_back(std::max<std::int64_t>((std::int64_t{1} << bit) + near, 1));
  for (const std::int64_t divisor : divisors) {
    const std::int64_t large = kMost / divisor * divisor;
    std::vector<std::int64_t> dividends = {0, 1, 12345678901234567, kMost, large, large - 1};
    for (const std::int64_t multiple : {divisor, large / 2 / divisor * divisor})
      for (const std::int64_t near : {-1, 0}) dividends.push_back(multiple + near);
    const auto from = DeviceBuffer<std::int64_t>::from_host(dividends, judge.stream());
    const DeviceBuffer<std::int64_t> to(dividends.size());
    launch(test::divide,
           {.grid = 1, .block = static_cast<unsigned>(dividends.size()), .stream = &judge.stream()},
           Divisor(divisor), from.data(), to.data());
    const std::vector<std::int64_t> quotients = to.to_host(judge.stream());
    for (std::size_t i = 0; i < dividends.size(); ++i)
      EXPECT_EQ(quotients[i], dividends[i] / divisor) << dividends[i] << " / " << divisor;
  }
}

} // namespace
} // namespace kg::card
