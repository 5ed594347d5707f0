// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// reduction against the oracle and every vendor: exact on integers, within the bound of a sum
// elsewhere, the same bits each time.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/reduction_fixture.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "tests/support/vendor.h"
#include "vendor/reduction/reduction.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(Reduction, testing::Types<float>, DtypeNames);

constexpr Size kOdd{301, 1027};

TYPED_TEST(Reduction, ExactFills) {
  for (const Axis axis : kAxes) {
    for (const SumRange range : {SumRange::wide, SumRange::dense}) {
      for (const Size size : {kOdd, Size{37, 100}, Size{2000, 33}}) {
        const Fill fill = this->exact_fill(axis, range, size);
        this->check_exact(fill.name, axis, fill.values, size);
        this->check_exact(fill.name, axis, fill.values, size, {.gap = 5, .offset = 3});
      }
    }
  }
}

TYPED_TEST(Reduction, RandomAgainstOracle) {
  this->check("normal", this->normals(kOdd), kOdd);
  const Size tall{5000, 60};
  this->check("normal", this->normals(tall), tall);
}

// Sums of one sign, where partial sums grow and cancellation hides nothing.
TYPED_TEST(Reduction, PositiveAgainstOracle) {
  const std::vector<double> values = positive(Dtype::f32, kOdd.rows * kOdd.cols, Tensor::a).values;
  for (const Axis axis : kAxes) {
    const SumOracle oracle = oracle_of(axis, values, kOdd);
    for (const Variant variant : kVariants) {
      std::vector<double> tolerance;
      for (const double sum : oracle.sum_abs) {
        tolerance.push_back(
            sum_f32_positive_tolerance(reduction::chain(axis, kOdd.rows, kOdd.cols, variant), sum));
      }
      const Expectation expected{
          this->kDtype, {static_cast<std::int64_t>(oracle.value.size())}, oracle.value, tolerance};
      EXPECT_TRUE(not_vacuous(expected, degenerate_of(oracle.value.size())));
      const auto result = this->run(axis, variant, elements<TypeParam>(values), kOdd);
      EXPECT_TRUE(verdict(compare(observe(result), expected),
                          this->context(axis, variant, "positive", kOdd)));
    }
  }
}

TYPED_TEST(Reduction, RandomAgainstVendors) {
  using T = TypeParam;
  const std::vector<T> x = elements<T>(this->normals(kOdd));
  for (const Axis axis : kAxes) {
    const SumOracle oracle = oracle_of(axis, observe(x).values, kOdd);
    const auto results = static_cast<std::int64_t>(oracle.value.size());
    const std::int64_t length = summed_length(axis, kOdd);
    // A library does not say in which order it adds: at the worst one after the other.
    const std::vector<double> vendor_tolerance = sum_f32_tolerances(oracle, length, 1);
    const auto vendors = vendor::reduction_variants(vendor_axis(axis));
    ASSERT_FALSE(vendors.empty());
    for (const Variant variant : kVariants) {
      const std::vector<double> tolerance = this->tolerances(axis, variant, oracle, kOdd);
      // In units of the deviation that this variant's chains may have.
      std::vector<double> unit;
      for (const double bound : tolerance) unit.push_back(bound / 6);
      const Expectation expected{this->kDtype, {results}, oracle.value, tolerance, unit};
      const Observed ours = observe(this->run(axis, variant, x, kOdd)); // before the vendor
      for (const std::string_view vendor : vendors) {
        const auto device_x = DeviceBuffer<T>::from_host(x, this->stream_);
        const DeviceBuffer<T> device_out(static_cast<std::size_t>(results));
        vendor::reduction(vendor, vendor_axis(axis), device_x.data(), kOdd.rows, kOdd.cols,
                          device_out.data(), this->stream_);
        const Observed theirs = observe(device_out.to_host(this->stream_));
        EXPECT_TRUE(
            verdict(compare_with_vendor(ours, theirs, expected, vendor_tolerance),
                    this->context(axis, variant, "normal beside " + std::string(vendor), kOdd)));
      }
    }
  }
}

// Around a 16-byte load, a warp, a block, a tile, and the size where rows go from warps to blocks.
TYPED_TEST(Reduction, Sizes) {
  for (const std::int64_t n : {0, 1, 2, 3, 5, 31, 33, 127, 129, 256, 511, 512, 513, 1025, 2049}) {
    for (const Size size : {Size{n, 7}, Size{7, n}, Size{1, n}, Size{n, 1}}) {
      this->check("normal", this->normals(size), size);
    }
  }
}

TYPED_TEST(Reduction, BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * 8;
  const Size rows{resident * 3 + 1, 515};
  const Fill by_row = this->exact_fill(Axis::rows, SumRange::dense, rows);
  this->check_exact(by_row.name, Axis::rows, by_row.values, rows);
  const Size long_rows{resident + 1, 2051}; // a block for each, and more rows than blocks
  const Fill by_block = this->exact_fill(Axis::rows, SumRange::dense, long_rows);
  this->check_exact(by_block.name, Axis::rows, by_block.values, long_rows);
  const Size cols{130, resident * 256 + 77};
  const Fill by_column = this->exact_fill(Axis::columns, SumRange::dense, cols);
  this->check_exact(by_column.name, Axis::columns, by_column.values, cols);
  const Size all{1, resident * 2048 * 3 + 5};
  const Fill whole = this->exact_fill(Axis::all, SumRange::dense, all);
  this->check_exact(whole.name, Axis::all, whole.values, all);
}

TYPED_TEST(Reduction, MisalignedAndPadded) {
  for (const std::int64_t offset : {1, 3, 4, 7, 8, 12}) {
    for (const std::int64_t gap : {0, 1, 4}) {
      const Size size{33, 1030};
      this->check("normal", this->normals(size), size, {gap, offset});
    }
  }
}

// One NaN, infinities of one sign, infinities of both: wherever they stand, the first and last
// place included.
TYPED_TEST(Reduction, SpecialValues) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Size size{65, 600};
  const std::int64_t count = size.rows * size.cols;
  for (const std::int64_t place : {std::int64_t{0}, std::int64_t{599}, count / 2, count - 1}) {
    for (const double special : {nan, kInf, -kInf}) {
      for (const bool both : {false, true}) {
        std::vector<double> values = this->normals(size);
        values[static_cast<std::size_t>(place)] = special;
        if (both) values[static_cast<std::size_t>((place + size.cols * 3) % count)] = -special;
        this->check("special", values, size);
      }
    }
  }
}

// Sums of signed zeros: -0 only where every term is -0 would be IEEE's rule for one chain; a sum
// that starts from +0 is +0.
TYPED_TEST(Reduction, NegativeZerosSumToZero) {
  const Size size{3, 700};
  const std::vector<TypeParam> zeros(static_cast<std::size_t>(size.rows * size.cols),
                                     TypeParam{-0.0f});
  for (const Axis axis : kAxes) {
    for (const Variant variant : kVariants) {
      for (const TypeParam sum : this->run(axis, variant, zeros, size))
        EXPECT_TRUE(sum == TypeParam{0} && !std::signbit(sum)) << sum;
    }
  }
}

TYPED_TEST(Reduction, SameBitsEveryTime) {
  using T = TypeParam;
  for (const Axis axis : kAxes) {
    for (const Variant variant : kVariants) {
      const auto x = elements<T>(reduction::deterministic(variant)
                                     ? this->normals(kOdd)
                                     : this->exact_fill(axis, SumRange::dense, kOdd).values);
      EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
        return this->run(axis, variant, x, kOdd);
      })) << reduction::name(axis);
    }
  }
}

// What becomes of the sums when x is scaled or its rows or columns change places; and one row's NaN
// is that row's alone.
TYPED_TEST(Reduction, Relations) {
  using T = TypeParam;
  const Size size{67, 300};
  const std::vector<double> values = this->normals(size);
  const std::vector<T> x = elements<T>(values);
  const std::vector<std::int64_t> rows = permutation(size.rows);
  const std::vector<std::int64_t> columns = permutation(size.cols);
  std::vector<T> spoiled = x;
  spoiled[static_cast<std::size_t>(41 * size.cols + 299)] = std::numeric_limits<T>::quiet_NaN();
  for (const Variant variant : kVariants) {
    for (const Axis axis : kAxes) {
      std::vector<T> smaller;
      for (const T sum : this->run(axis, variant, x, size)) smaller.push_back(sum * 0x1p-7f);
      EXPECT_TRUE(same_bits("sum(2^-7 x) = 2^-7 sum(x)",
                            this->run(axis, variant, elements<T>(scaled(values, -7)), size),
                            smaller))
          << reduction::name(axis);
    }
    const std::vector<T> by_row = this->run(Axis::rows, variant, x, size);
    const std::vector<T> by_column = this->run(Axis::columns, variant, x, size);
    EXPECT_TRUE(same_bits("row sums of P x = P (row sums of x)",
                          this->run(Axis::rows, variant, permuted_rows(x, rows), size),
                          permuted_rows(by_row, rows)));
    EXPECT_TRUE(same_bits("column sums of x P = (column sums of x) P",
                          this->run(Axis::columns, variant, permuted_columns(x, columns), size),
                          permuted_columns(by_column, columns)));
    EXPECT_TRUE(only_row_differs(by_row, this->run(Axis::rows, variant, spoiled, size), 1, 41));
    EXPECT_TRUE(
        only_row_differs(by_column, this->run(Axis::columns, variant, spoiled, size), 1, 299));
  }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(Reduction, WaitsForItsStream) {
  using T = TypeParam;
  const Size size{33, 200};
  const auto x = elements<T>(this->normals(size));
  for (const Axis axis : kAxes) {
    for (const Variant variant : kVariants) {
      const auto results =
          static_cast<std::size_t>(reduction::result_count(axis, size.rows, size.cols));
      const DeviceBuffer<T> out(results);
      const DeviceBuffer<unsigned char> workspace(
          reduction::workspace_bytes(axis, size.rows, size.cols, variant));
      const LateInput<T> late(x, this->stream_);
      reduction::run(axis, kg::matrix<const float>(late.data(), size.rows, size.cols), out.data(),
                     workspace.size() > 0 ? workspace.data() : nullptr, variant, this->stream_);
      EXPECT_TRUE(same_bits("behind a slow kernel", out.to_host(this->stream_),
                            this->run(axis, variant, x, size)))
          << reduction::name(axis) << " " << reduction::name(variant);
    }
  }
}

TYPED_TEST(Reduction, AutomaticReportsWhatRan) {
  const auto x =
      DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(64, TypeParam{1}), this->stream_);
  const DeviceBuffer<TypeParam> out(8);
  const DeviceBuffer<unsigned char> workspace(
      reduction::workspace_bytes(Axis::rows, 8, 8, Variant::automatic));
  LaunchRecorder recorder;
  const Variant ran =
      reduction::run(Axis::rows, kg::matrix<const float>(x.data(), 8, 8), out.data(),
                     workspace.data(), Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::tiled);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("reduction::warp_rows"), std::string::npos);
}

TYPED_TEST(Reduction, RefusesWrongArguments) {
  const DeviceBuffer<TypeParam> data(64);
  float* const p = data.data();
  const auto run = [&](MatrixView<const float> x, float* out, void* workspace) {
    reduction::run(Axis::all, x, out, workspace, Variant::tiled, this->stream_);
  };
  EXPECT_THROW(run(kg::matrix<const float>(p, -1, 8), p, p), Error);
  EXPECT_THROW(run(kg::matrix<const float>(p, 8, 8, 7), p, p), Error);
  EXPECT_THROW(run({p, {8, 8}, {8, 2}}, p, p), Error);
  EXPECT_THROW(run(kg::matrix<const float>(nullptr, 8, 8), p, p), Error);
  EXPECT_THROW(run(kg::matrix<const float>(p, 8, 8), nullptr, p), Error);
  EXPECT_THROW(run(kg::matrix<const float>(p, 8, 8), p, nullptr), Error);
}

} // namespace
} // namespace kg::test
