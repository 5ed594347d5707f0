// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to reduction; its card configures those of every operation.
#include "ops/reduction/reduction.h"

#include "runtime/launch.h"
#include "runtime/memory.h"
#include "tests/contract/own_test.h"
#include "tests/ops/reduction/samples.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

using reduction_samples::sample;

bool has_sums_alone(Dtype dtype) { return dtype == Dtype::i32; }

Sample exact_sum(Judge& judge, const Extents& extents) {
  const Dtype dtype = judge.dtype();
  return sample(dtype, "dense sums", Op::sum, extents,
                has_sums_alone(dtype)
                    ? reduction_samples::numbers(dtype, extents)
                    : reduction_samples::exact_terms(dtype, test::SumRange::dense, extents));
}

// Only x may have gaps.
KG_OWN_TEST(RowsApart) {
  std::vector<std::pair<Extents, std::vector<Place>>> each;
  for (const Extents& extents : large()) each.push_back({extents, {{3, 5}}});
  std::vector<Place> places;
  for (const std::int64_t offset : {1, 3, 4, 7, 8, 12})
    for (const std::int64_t gap : {1, 2, 4, 8}) places.push_back({offset, gap});
  each.push_back({{5, 1030, 1}, places});
  each.push_back({{3, 66, 40}, places});
  each.push_back({{3, 4100, 1}, {{1, 1}}});
  for (const auto& [extents, where] : each) {
    const Sample exact = exact_sum(judge, extents);
    const Problem problem = problem_of(judge.card(), judge.dtype(), exact);
    References right = judge.card().references(problem, exact.inputs);
    right.at("out").tolerance = {};
    for (double& sum : right.at("out").value) sum = test::round_to(judge.dtype(), sum);
    for (const Place& place : where) judge.check_against(exact, right, {{"x", place}});
  }
}

KG_OWN_TEST(BeyondOneGrid) {
  for (const Extents& extents : reduction_samples::beyond_one_grid())
    judge.check_exactly(exact_sum(judge, extents));
}

// Effect of negating x or exchanging its outer parts; and one result's NaN does not reach another
// result.
KG_OWN_TEST(Relations) {
  if (has_sums_alone(judge.dtype())) return;
  for (const Extents& extents : {Extents{67, 300, 1}, Extents{13, 20, 24}, Extents{9, 30, 5}}) {
    const std::vector<double> x = reduction_samples::numbers(judge.dtype(), extents);
    std::vector<double> negated = x, spoiled = x;
    for (double& value : negated) value = -value;
    spoiled.back() = kNan;
    const std::vector<std::int64_t> order = test::permutation(extents[0]);
    for (const reduction::Variant variant : reduction::kVariants) {
      const auto run = [&](Op op, const std::vector<double>& values) {
        return judge.run(reduction::name(variant),
                         sample(judge.dtype(), "normal", op, extents, values));
      };
      for (const Op op : reduction::kOps) {
        const auto before = run(op, x).bits("out");
        EXPECT_EQ(run(op, test::permuted_rows(x, order)).bits("out"),
                  test::permuted_rows(before, order))
            << name(variant) << " " << name(op) << ": outer parts change places";
        auto after = run(op, spoiled).bits("out");
        EXPECT_TRUE(std::isnan(test::decode(judge.dtype(), after.back())))
            << name(variant) << " " << name(op) << ": of a NaN";
        after.back() = before.back();
        EXPECT_EQ(after, before) << name(variant) << " " << name(op) << ": a NaN elsewhere";
      }
      std::vector<double> largest = run(Op::max, x).outputs.at("out").values;
      for (double& value : largest) value = -value;
      EXPECT_EQ(run(Op::min, negated).outputs.at("out").values, largest) << name(variant);
    }
  }
}

KG_OWN_TEST(BeyondThirtyOneBits) {
  constexpr std::int64_t kAxis = (std::int64_t{1} << 21) + 3;
  constexpr std::int64_t kInner = 1024;
  KG_HUGE(size_of(judge.dtype()) * kAxis * kInner);
  dispatch_numbers(judge.dtype(), [&]<class T>() {
    Stream& stream = judge.stream();
    const DeviceBuffer<T> x(static_cast<std::size_t>(kAxis * kInner));
    fill_bytes(x.data(), 0, x.bytes(), stream);
    const std::vector<T> marks = test::elements<T>(std::vector<double>{5, 7});
    test::put<T>({{0, marks[0]}, {kAxis * kInner - 1, marks[1]}}, x, stream);
    for (const Extents& extents : {Extents{1, kAxis * kInner, 1}, Extents{1, kAxis, kInner},
                                   Extents{kAxis, kInner, 1}, Extents{kInner, kAxis, 1}}) {
      const auto view = reduction::packed<T>(x.data(), extents);
      const DeviceBuffer<T> out(static_cast<std::size_t>(results_of(extents)));
      const DeviceBuffer<unsigned char> workspace(
          reduction::workspace_bytes(view, reduction::Variant::tiled));
      if (backend == Backend::host) // as blocks outside of the window would leave it
        fill_bytes(workspace.data(), 0, workspace.bytes(), stream);
      reduction::run(Op::sum, view, out.data(), workspace.size() > 0 ? workspace.data() : nullptr,
                     reduction::Variant::tiled, stream);
      test::Marks<T> sums;
      if (out.size() == 1)
        sums[0] = test::elements<T>(std::vector<double>{12})[0];
      else
        sums = {{0, marks[0]}, {results_of(extents) - 1, marks[1]}};
      EXPECT_TRUE(test::holds(out, T{}, sums, stream));
    }
  });
}

KG_OWN_TEST(RowsByWarpsAndColumnsByTiles) {
  for (const auto& [extents, kernel] :
       {std::pair{Extents{8, 8, 1}, "warp_rows"}, std::pair{Extents{1, 8, 8}, "column_tiles"}}) {
    const Outcome outcome = judge.run("tiled", exact_sum(judge, extents));
    ASSERT_EQ(outcome.kernels.size(), 1u);
    EXPECT_NE(outcome.kernels[0].find(kernel), std::string::npos) << outcome.kernels[0];
  }
}

// Arguments that the contract's problems cannot have: overlapping rows, elements with gaps, extrema
// of nothing, no workspace, and operations that i32 lacks.
KG_OWN_TEST(RefusesStridesAndOperations) {
  dispatch_numbers(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(64);
    T* const p = data.data();
    const auto run = [&](View<const T, 3> x, Op op = Op::sum) {
      reduction::run(op, x, p, p, reduction::Variant::tiled, judge.stream());
    };
    EXPECT_THROW(run({p, {8, 8, 1}, {7, 1, 1}}), Error); // overlapping outer parts
    EXPECT_THROW(run({p, {1, 8, 8}, {64, 7, 1}}), Error);
    EXPECT_THROW(run({p, {1, 4, 4}, {64, 8, 2}}), Error);
    EXPECT_THROW(run({p, {4, 0, 1}, {0, 1, 1}}, Op::max), Error);
    EXPECT_THROW(run({nullptr, {1, 8, 8}, {64, 8, 1}}), Error);
    const auto packed = reduction::packed<T>(p, {1, 5000, 4});
    EXPECT_THROW(
        reduction::run(Op::sum, packed, p, nullptr, reduction::Variant::tiled, judge.stream()),
        Error);
    for (const Op op : {Op::mean, Op::max, Op::min}) {
      if (has_sums_alone(judge.dtype())) {
        EXPECT_THROW(run({p, {1, 8, 1}, {8, 1, 1}}, op), Error) << name(op);
      }
    }
  });
}

// The mean of nothing is NaN; its sum, 0, is among the sizes.
KG_OWN_TEST(MeanOfNothing) {
  if (has_sums_alone(judge.dtype())) return;
  for (const Extents& extents : {Extents{5, 0, 1}, Extents{1, 0, 5}, Extents{1, 0, 1}})
    judge.check(sample(judge.dtype(), "nothing", Op::mean, extents, {}));
}

KG_OWN_TEST(MergesNeighbouringAxes) {
  const std::vector<std::int64_t> shape{2, 3, 5, 7};
  EXPECT_EQ(reduction::merged(shape, 0, 4), (Extents{1, 210, 1}));
  EXPECT_EQ(reduction::merged(shape, 1, 3), (Extents{2, 15, 7}));
  EXPECT_EQ(reduction::merged(shape, 3, 4), (Extents{30, 7, 1}));
  EXPECT_EQ(reduction::merged(shape, 2, 2), (Extents{6, 1, 35}));
  EXPECT_THROW(reduction::merged(shape, 3, 2), Error);
  EXPECT_THROW(reduction::merged(shape, 0, 5), Error);
  const Work work = reduction::work(judge.dtype(), {2, 15, 7});
  EXPECT_EQ(work.bytes, static_cast<double>(size_of(judge.dtype())) * (210.0 + 14.0));
  EXPECT_EQ(work.flops, 210.0);
}

} // namespace
} // namespace kg::card
