// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// reduction against the oracle and every vendor: exact on integers and for extrema, within the
// bound of a sum elsewhere, the same bits each time.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/memory.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/reduction_fixture.h"
#include "tests/reduction_integers.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/reduction/reduction.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(Reduction, FloatTypes, DtypeNames);

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TYPED_TEST(Reduction, ExactSums) {
  std::vector<Extents> some = shapes();
  for (const Size size : {Size{37, 100}, Size{500, 40}})
    for (const Extents& extents : axes_of(size)) some.push_back(extents);
  for (const SumRange range : {SumRange::wide, SumRange::dense}) {
    for (const Extents& extents : some) {
      this->check_exact_sums(range, extents);
      this->check_exact_sums(range, extents, {.gap = 5, .outer_gap = 2, .offset = 3});
    }
  }
}

// Sums of integers, divided by a power of two and rounded once.
TYPED_TEST(Reduction, ExactMeans) {
  for (const Extents& extents : {Extents{40, 1024, 1}, Extents{3, 4096, 1}, Extents{1, 8192, 1},
                                 Extents{1, 256, 72}, Extents{3, 64, 17}, Extents{1, 8, 8192}}) {
    const Fill fill = this->exact_fill(SumRange::wide, extents);
    std::vector<double> means;
    for (const double sum : oracle_of(Op::sum, fill.values, extents).value)
      means.push_back(sum / static_cast<double>(extents[1]));
    this->check_exact(Op::mean, fill.name, fill.values, means, extents);
  }
}

// A mean is a quotient, correctly rounded: of exact sums by a length that has no exact reciprocal.
TYPED_TEST(Reduction, MeansAreQuotients) {
  for (const Extents& extents : {Extents{40, 1000, 1}, Extents{30, 4099, 1}, Extents{1, 9001, 1},
                                 Extents{1, 77, 72}, Extents{3, 41, 17}, Extents{1, 9, 8192}}) {
    const Fill fill = this->exact_fill(SumRange::wide, extents);
    std::vector<double> means;
    for (const double sum : oracle_of(Op::sum, fill.values, extents).value)
      means.push_back(round_to(Dtype::f32, sum / static_cast<double>(extents[1])));
    this->check_exact(Op::mean, fill.name, fill.values, means, extents);
  }
}

// The smallest numbers are kept: by extrema, in sums, which are exact, and in means of equal ones.
TYPED_TEST(Reduction, Subnormals) {
  const double least = min_subnormal(this->kDtype);
  const auto normals = static_cast<std::int64_t>(0.5 / unit_roundoff(this->kDtype)); // times least
  for (const Extents& extents : {Extents{40, 7, 1}, Extents{1, 5, 72}, Extents{3, 6, 11}}) {
    for (const Op op : {Op::max, Op::min, Op::sum}) {
      const std::int64_t largest = op == Op::sum ? normals / 8 : normals - 1; // a sum of 7 is exact
      std::vector<double> x =
          integers(this->kDtype, extents[0] * extents[1] * extents[2], largest, Tensor::a).values;
      for (double& value : x) value *= least;
      this->check_exact(op, "subnormal", x, oracle_of(op, x, extents).value, extents);
    }
  }
  for (const Extents& extents : {Extents{40, 64, 1}, Extents{3, 4096, 1}, Extents{1, 256, 72}}) {
    const auto results = static_cast<std::size_t>(result_count(extents));
    const std::vector<double> x(results * static_cast<std::size_t>(extents[1]), 3 * least);
    const std::vector<double> same(results, 3 * least);
    for (const Op op : {Op::max, Op::min, Op::mean})
      for (const Variant variant : kVariants)
        EXPECT_TRUE(
            verdict(compare(observe(this->run(op, variant, elements<TypeParam>(x), extents)),
                            exactly(this->kDtype, {result_count(extents)}, same)),
                    this->context(op, variant, "one subnormal", extents)));
  }
}

TYPED_TEST(Reduction, RandomAgainstOracle) {
  for (const Extents& extents : shapes())
    for (const Op op : kOps) this->check(op, "normal", this->normals(extents), extents);
}

// All of one sign, on the side where an accumulator that starts from 0 would win.
TYPED_TEST(Reduction, ExtremaOfOneSign) {
  for (const Extents& extents : shapes()) {
    std::vector<double> x = this->normals(extents);
    for (double& value : x) value = -std::fabs(value);
    this->check(Op::max, "negative", x, extents);
    for (double& value : x) value = -value;
    this->check(Op::min, "positive", x, extents);
  }
}

// Sums of one sign, where partial sums grow and cancellation hides nothing.
TYPED_TEST(Reduction, PositiveAgainstOracle) {
  for (const Extents& extents : shapes()) {
    const std::vector<double> values =
        positive(this->kDtype, extents[0] * extents[1] * extents[2], Tensor::a).values;
    const Oracle oracle = oracle_of(Op::sum, values, extents);
    if (oracle.value[0] > max_finite(this->kDtype)) continue;
    for (const Variant variant : kVariants) {
      std::vector<double> tolerance;
      for (const double sum : oracle.value)
        tolerance.push_back(stored_tolerance(
            this->kDtype, sum,
            sum_f32_positive_tolerance(
                reduction::chain(reduction::packed<TypeParam>(nullptr, extents), variant), sum)));
      const Expectation expected{this->kDtype, {result_count(extents)}, oracle.value, tolerance};
      EXPECT_TRUE(not_vacuous(expected, degenerate_of(oracle.value.size())));
      const auto result = this->run(Op::sum, variant, elements<TypeParam>(values), extents);
      EXPECT_TRUE(verdict(compare(observe(result), expected),
                          this->context(Op::sum, variant, "positive", extents)));
    }
  }
}

TYPED_TEST(Reduction, RandomAgainstVendors) {
  using T = TypeParam;
  for (const Op op : kOps) {
    for (const Extents& extents : shapes()) {
      const vendor::ReductionProblem problem = vendor_problem(op, this->kDtype, extents);
      const auto vendors = vendor::reduction_variants(problem);
      if (vendors.empty()) {
        report_no_vendor("reduction", this->kDtype, reduction::name(op));
        continue;
      }
      const std::vector<T> x = elements<T>(this->normals(extents));
      const Oracle oracle = oracle_of(op, observe(x).values, extents);
      // A library does not say in which order it adds: at the worst one after the other.
      const std::vector<double> theirs_may = bounds(op, this->kDtype, oracle, extents[1], 1);
      for (const Variant variant : kVariants) {
        const std::vector<double> tolerance = this->tolerances(op, variant, oracle, extents);
        // In units of the deviation that this variant's chains may have. Extrema have none, and one
        // sum is one draw.
        std::vector<double> unit;
        if (op != Op::max && op != Op::min && result_count(extents) > 1)
          for (const double bound : tolerance) unit.push_back(bound / 6);
        const Expectation expected{
            this->kDtype, {result_count(extents)}, oracle.value, tolerance, unit};
        const Observed ours = observe(this->run(op, variant, x, extents)); // before the vendor
        for (const std::string_view vendor : vendors) {
          const auto device_x = DeviceBuffer<T>::from_host(x, this->stream_);
          const DeviceBuffer<T> out(oracle.value.size());
          vendor::reduction(vendor, problem, device_x.data(), out.data(), this->stream_);
          const Observed theirs = observe(out.to_host(this->stream_));
          EXPECT_TRUE(
              verdict(compare_with_vendor(ours, theirs, expected, theirs_may),
                      this->context(op, variant, "normal beside " + std::string(vendor), extents)));
        }
      }
    }
  }
}

// Around a 16-byte load, a warp, a block, a tile, and the size where rows go from warps to blocks.
TYPED_TEST(Reduction, Sizes) {
  for (const std::int64_t n : {0, 1, 2, 3, 5, 31, 33, 127, 129, 256, 511, 513, 1025, 2049}) {
    for (const Extents& extents : {Extents{n, 7, 1}, Extents{7, n, 1}, Extents{1, n, 7},
                                   Extents{1, n, 1}, Extents{1, n, 8}, Extents{2, 5, n}})
      this->check(Op::sum, "normal", this->normals(extents), extents);
    if (n > 0)
      for (const Extents& extents : {Extents{3, n, 1}, Extents{1, n, 3}, Extents{n, 2, 3}})
        this->check(Op::max, "normal", this->normals(extents), extents);
  }
}

// The sum of nothing is 0, its mean NaN.
TYPED_TEST(Reduction, EmptyAxis) {
  for (const Extents& extents : {Extents{5, 0, 1}, Extents{1, 0, 5}, Extents{1, 0, 1}}) {
    this->check(Op::sum, "empty", {}, extents);
    this->check(Op::mean, "empty", {}, extents);
  }
}

TYPED_TEST(Reduction, BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * 8;
  for (const Extents& extents : {
           Extents{resident * 8 + 1, 67, 1},
           Extents{resident + 1, 2051, 1}, // a block for each row, and more rows than blocks
           Extents{2, resident * 512 + 77, 1},
           Extents{1, resident * 2048 + 5, 1}, // a block more than once around its loop
           Extents{1, 40, resident * 64 + 72},
       })
    this->check_exact_sums(SumRange::dense, extents);
}

TYPED_TEST(Reduction, MisalignedAndPadded) {
  for (const std::int64_t offset : {1, 3, 4, 7, 8, 12}) {
    for (const std::int64_t gap : {0, 1, 2, 4, 8}) {
      for (const Extents& extents : {Extents{5, 1030, 1}, Extents{3, 66, 40}})
        this->check_exact_sums(SumRange::dense, extents,
                               {.gap = gap, .outer_gap = gap, .offset = offset});
    }
  }
  this->check_exact_sums(SumRange::dense, {3, 4100, 1}, {.gap = 1, .offset = 1});
}

// One NaN, infinities of one sign, infinities of both: wherever they stand, the first and last
// place included.
TYPED_TEST(Reduction, SpecialValues) {
  for (const Extents& extents : {Extents{3, 300, 1}, Extents{1, 9, 72}, Extents{1, 2600, 1},
                                 Extents{2, 2100, 1}, Extents{3, 40, 11}}) {
    const std::int64_t count = extents[0] * extents[1] * extents[2];
    for (const std::int64_t place : {std::int64_t{0}, count / 2, count - 1}) {
      for (const double special : {kNan, kInf, -kInf}) {
        for (const bool both : {false, true}) {
          std::vector<double> values = this->normals(extents);
          values[static_cast<std::size_t>(place)] = special;
          if (both) values[static_cast<std::size_t>((place + extents[2]) % count)] = -special;
          this->check(Op::sum, "special", values, extents);
          this->check(both ? Op::min : Op::max, "special", values, extents);
        }
      }
    }
  }
}

// Where every element is the identity of the operation, or beyond what f32 starts from.
TYPED_TEST(Reduction, ExtremaOfInfinities) {
  for (const Extents& extents : {Extents{3, 40, 1}, Extents{2, 4100, 1}, Extents{2, 40, 24}}) {
    const auto count = static_cast<std::size_t>(extents[0] * extents[1] * extents[2]);
    for (const double value : {kInf, -kInf, kNan, -max_finite(this->kDtype)})
      for (const Op op : {Op::max, Op::min})
        this->check(op, "constant", std::vector<double>(count, value), extents);
  }
}

// Sums of signed zeros: -0 only where every term is -0 would be IEEE's rule for one chain; a sum
// that starts from +0 is +0.
TYPED_TEST(Reduction, NegativeZerosSumToZero) {
  for (const Extents& extents : axes_of({3, 700})) {
    const auto zeros = elements<TypeParam>(std::vector<double>(2100, -0.0));
    for (const Op op : {Op::sum, Op::mean})
      for (const Variant variant : kVariants)
        for (const TypeParam sum : this->run(op, variant, zeros, extents))
          EXPECT_EQ(raw_bits(sum), 0u);
  }
}

TYPED_TEST(Reduction, SameBitsEveryTime) {
  using T = TypeParam;
  for (const Extents& extents : shapes()) {
    for (const Variant variant : kVariants) {
      const auto x = elements<T>(reduction::deterministic(variant)
                                     ? this->normals(extents)
                                     : this->exact_fill(SumRange::dense, extents).values);
      EXPECT_TRUE(same_bits_every_time(this->id(variant),
                                       [&] { return this->run(Op::sum, variant, x, extents); }));
    }
  }
}

// What becomes of the results when x is negated or its outer parts change places; and one result's
// NaN is that result's alone.
TYPED_TEST(Reduction, Relations) {
  using T = TypeParam;
  for (const Extents& extents : {Extents{67, 300, 1}, Extents{13, 20, 24}, Extents{9, 30, 5}}) {
    const auto [outer, axis, inner] = extents;
    const std::vector<double> values = this->normals(extents);
    const std::vector<T> x = elements<T>(values);
    std::vector<double> negated = values;
    for (double& value : negated) value = -value;
    const std::vector<std::int64_t> order = permutation(outer);
    std::vector<T> spoiled = x;
    spoiled.back() = elements<T>(std::vector<double>{kNan})[0];
    for (const Variant variant : kVariants) {
      for (const Op op : kOps) {
        const std::vector<T> before = this->run(op, variant, x, extents);
        EXPECT_TRUE(same_bits("reduce(P x) = P reduce(x)",
                              this->run(op, variant, permuted_rows(x, order), extents),
                              permuted_rows(before, order)))
            << reduction::name(op);
        EXPECT_TRUE(only_row_differs(before, this->run(op, variant, spoiled, extents), 1,
                                     result_count(extents) - 1))
            << reduction::name(op);
      }
      std::vector<double> largest = observe(this->run(Op::max, variant, x, extents)).values;
      for (double& value : largest) value = -value;
      EXPECT_TRUE(same_bits("min(-x) = -max(x)",
                            this->run(Op::min, variant, elements<T>(negated), extents),
                            elements<T>(largest)));
    }
  }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(Reduction, WaitsForItsStream) {
  using T = TypeParam;
  for (const Extents& extents : axes_of({33, 200})) {
    const auto x = elements<T>(this->normals(extents));
    for (const Variant variant : kVariants) {
      const DeviceBuffer<T> out(static_cast<std::size_t>(result_count(extents)));
      const LateInput<T> late(x, this->stream_);
      const auto view = reduction::packed(late.data(), extents);
      const DeviceBuffer<unsigned char> workspace(reduction::workspace_bytes(view, variant));
      reduction::run(Op::sum, view, out.data(), workspace.size() > 0 ? workspace.data() : nullptr,
                     variant, this->stream_);
      EXPECT_TRUE(same_bits("behind a slow kernel", out.to_host(this->stream_),
                            this->run(Op::sum, variant, x, extents)))
          << reduction::name(variant);
    }
  }
}

TYPED_TEST(Reduction, BeyondThirtyOneBits) {
  using T = TypeParam;
  constexpr std::int64_t kAxis = (std::int64_t{1} << 21) + 3;
  constexpr std::int64_t kInner = 1024;
  const std::string reason = too_huge_reason(sizeof(T) * kAxis * kInner);
  if (!reason.empty()) GTEST_SKIP() << reason;
  const DeviceBuffer<T> x(static_cast<std::size_t>(kAxis * kInner));
  fill_bytes(x.data(), 0, x.bytes(), this->stream_);
  const std::vector<T> marks = elements<T>(std::vector<double>{5, 7});
  put<T>({{0, marks[0]}, {kAxis * kInner - 1, marks[1]}}, x, this->stream_);
  for (const Extents& extents : {Extents{1, kAxis * kInner, 1}, Extents{1, kAxis, kInner},
                                 Extents{kAxis, kInner, 1}, Extents{kInner, kAxis, 1}}) {
    const auto view = reduction::packed<T>(x.data(), extents);
    const DeviceBuffer<T> out(static_cast<std::size_t>(result_count(extents)));
    const DeviceBuffer<unsigned char> workspace(reduction::workspace_bytes(view, Variant::tiled));
    reduction::run(Op::sum, view, out.data(), workspace.size() > 0 ? workspace.data() : nullptr,
                   Variant::tiled, this->stream_);
    std::vector<double> sums(out.size(), 0.0);
    sums.front() = 5;
    sums.back() += 7;
    EXPECT_TRUE(
        same_bits("sums of zeros and two marks", out.to_host(this->stream_), elements<T>(sums)));
  }
}

TYPED_TEST(Reduction, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto x = DeviceBuffer<T>::from_host(elements<T>(std::vector<double>(64, 1)), this->stream_);
  const DeviceBuffer<T> out(8);
  for (const auto& [extents, kernel] :
       {std::pair{Extents{8, 8, 1}, "warp_rows"}, std::pair{Extents{1, 8, 8}, "column_tiles"}}) {
    LaunchRecorder recorder;
    const Variant ran = reduction::run(Op::sum, reduction::packed<T>(x.data(), extents), out.data(),
                                       nullptr, Variant::automatic, this->stream_);
    EXPECT_EQ(ran, Variant::tiled);
    ASSERT_EQ(recorder.launches().size(), 1u);
    EXPECT_NE(recorder.launches()[0].kernel_name.find(kernel), std::string::npos)
        << recorder.launches()[0].kernel_name;
  }
}

TYPED_TEST(Reduction, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(64);
  T* const p = data.data();
  const auto run = [&](View<const T, 3> x, Op op = Op::sum) {
    reduction::run(op, x, p, p, Variant::tiled, this->stream_);
  };
  EXPECT_THROW(run({p, {-1, 8, 1}, {8, 1, 1}}), Error);
  EXPECT_THROW(run({p, {1, -8, 1}, {8, 1, 1}}), Error);
  EXPECT_THROW(run({p, {1, 8, -1}, {8, 1, 1}}), Error);
  EXPECT_THROW(run({p, {8, 8, 1}, {7, 1, 1}}), Error); // outer parts that overlap
  EXPECT_THROW(run({p, {1, 8, 8}, {64, 7, 1}}), Error);
  EXPECT_THROW(run({p, {1, 4, 4}, {64, 8, 2}}), Error);
  EXPECT_THROW(run({p, {4, 0, 1}, {0, 1, 1}}, Op::max), Error);
  EXPECT_THROW(run({nullptr, {1, 8, 8}, {64, 8, 1}}), Error);
  const auto packed = reduction::packed<T>(p, {1, 5000, 4});
  EXPECT_THROW(
      reduction::run(Op::sum, packed, static_cast<T*>(nullptr), p, Variant::tiled, this->stream_),
      Error);
  EXPECT_THROW(reduction::run(Op::sum, packed, p, nullptr, Variant::tiled, this->stream_), Error);
}

TYPED_TEST(Reduction, MergesNeighbouringAxes) {
  const std::vector<std::int64_t> shape{2, 3, 5, 7};
  EXPECT_EQ(reduction::merged(shape, 0, 4), (Extents{1, 210, 1}));
  EXPECT_EQ(reduction::merged(shape, 1, 3), (Extents{2, 15, 7}));
  EXPECT_EQ(reduction::merged(shape, 3, 4), (Extents{30, 7, 1}));
  EXPECT_EQ(reduction::merged(shape, 2, 2), (Extents{6, 1, 35}));
  EXPECT_THROW(reduction::merged(shape, 3, 2), Error);
  EXPECT_THROW(reduction::merged(shape, 0, 5), Error);
  const Work work = reduction::work(this->kDtype, {2, 15, 7});
  EXPECT_EQ(work.bytes, sizeof(TypeParam) * (210.0 + 14.0));
  EXPECT_EQ(work.flops, 210.0);
}

} // namespace
} // namespace kg::test
