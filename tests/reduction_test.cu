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

#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/support/case.h"
#include "tests/support/compare.h"
#include "tests/support/device_types.h"
#include "tests/support/fills.h"
#include "tests/support/hygiene.h"
#include "tests/support/oracle.h"
#include "tests/support/strided.h"
#include "tests/support/tolerance.h"
#include "tests/support/vacuity.h"
#include "tests/support/vendor.h"
#include "vendor/vendor.h"

#include "reduction/reduction.h"

namespace kg::test {
namespace {

using reduction::Axis;
using reduction::kAxes;
using reduction::kVariants;
using reduction::Variant;

struct Size {
  std::int64_t rows;
  std::int64_t cols;
};

// Where x lies: elements between rows beyond cols, and before the first row.
struct Layout {
  std::int64_t gap = 0;
  std::int64_t offset = 0;
};

std::int64_t summed_length(Axis axis, Size size) {
  if (axis == Axis::all) return size.rows * size.cols;
  return axis == Axis::rows ? size.cols : size.rows;
}

vendor::SumAxis vendor_axis(Axis axis) {
  if (axis == Axis::all) return vendor::SumAxis::all;
  return axis == Axis::rows ? vendor::SumAxis::rows : vendor::SumAxis::columns;
}

Degenerate degenerate_of(std::size_t results) {
  return results == 0   ? Degenerate::empty
         : results == 1 ? Degenerate::single_element
                        : Degenerate::no;
}

SumOracle oracle_of(Axis axis, const std::vector<double>& x, Size size) {
  if (axis == Axis::all) return row_sums_oracle(x, 1, size.rows * size.cols);
  return axis == Axis::rows ? row_sums_oracle(x, size.rows, size.cols)
                            : column_sums_oracle(x, size.rows, size.cols);
}

template <typename T>
class Reduction : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;

  void SetUp() override { this->RecordProperty("backend", std::string(name(backend))); }

  static CaseContext context(Axis axis, Variant variant, std::string fill, Size size) {
    return {CaseId("reduction.f32." + std::string(reduction::name(axis)) + "_r" +
                   std::to_string(size.rows) + "_c" + std::to_string(size.cols)),
            std::string(reduction::name(variant)),
            std::move(fill),
            {reduction::result_count(axis, size.rows, size.cols)},
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Axis axis, Variant variant, const std::vector<T>& x, Size size,
                     Layout layout = {}) {
    Strided view = matrix(size.rows, size.cols, size.cols + layout.gap);
    view.offset = layout.offset;
    const std::int64_t results = reduction::result_count(axis, size.rows, size.cols);
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, view);
    InputGuard inputs;
    inputs.watch("x", stored_x);
    const auto device_x = DeviceBuffer<T>::from_host(stored_x, stream_);
    const auto device_out = DeviceBuffer<T>::from_host(poisoned<T>(results + kBehind), stream_);
    const DeviceBuffer<unsigned char> workspace(
        reduction::workspace_bytes(axis, size.rows, size.cols, variant));

    LaunchRecorder recorder;
    const Variant ran = reduction::run(
        axis,
        kg::matrix<const float>(device_x.data() + layout.offset, size.rows, size.cols,
                                size.cols + layout.gap),
        device_out.data(), workspace.size() > 0 ? workspace.data() : nullptr, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().empty(), x.empty());
    EXPECT_TRUE(inputs.unchanged("x", device_x.to_host(stream_)));
    EXPECT_NO_THROW(device_x.check_guards());
    EXPECT_NO_THROW(device_out.check_guards());
    EXPECT_NO_THROW(workspace.check_guards());
    const std::vector<T> stored = device_out.to_host(stream_);
    EXPECT_TRUE(gaps_intact(stored, contiguous({results})));
    return gather(stored, contiguous({results}));
  }

  static std::vector<double> tolerances(Axis axis, Variant variant, const SumOracle& oracle,
                                        Size size) {
    const std::int64_t length = summed_length(axis, size);
    const std::int64_t chain =
        std::max<std::int64_t>(reduction::chain(axis, size.rows, size.cols, variant), 1);
    std::vector<double> bounds =
        sum_f32_tolerances(oracle, length, std::max<std::int64_t>(length / chain, 1));
    for (double& bound : bounds) {
      if (!std::isfinite(bound)) bound = 0; // NaN and infinity are right or wrong
    }
    return bounds;
  }

  // Every axis and variant on this matrix, within the bound.
  void check(const std::string& fill, const std::vector<double>& values, Size size,
             Layout layout = {}) {
    for (const Axis axis : kAxes) {
      const SumOracle oracle = oracle_of(axis, values, size);
      for (const Variant variant : kVariants) {
        const std::vector<double> tolerance = tolerances(axis, variant, oracle, size);
        const Expectation expected{
            kDtype, {static_cast<std::int64_t>(oracle.value.size())}, oracle.value, tolerance};
        const bool nothing = size.rows == 0 || size.cols == 0;
        const bool one = size.rows == 1 || size.cols == 1; // sums of one term are exact
        if (!nothing && !one) {
          EXPECT_TRUE(not_vacuous(expected, degenerate_of(oracle.value.size())))
              << fill << " " << reduction::name(axis);
        }
        EXPECT_TRUE(verdict(
            compare(observe(run(axis, variant, elements<T>(values), size, layout)), expected),
            context(axis, variant, fill, size)));
      }
    }
  }

  // Bit for bit.
  void check_exact(const std::string& fill, Axis axis, const std::vector<double>& values, Size size,
                   Layout layout = {}) {
    const SumOracle oracle = oracle_of(axis, values, size);
    const Expectation expected =
        exactly(kDtype, {static_cast<std::int64_t>(oracle.value.size())}, oracle.value);
    EXPECT_TRUE(not_vacuous(expected, degenerate_of(oracle.value.size()))) << fill;
    for (const Variant variant : kVariants) {
      EXPECT_TRUE(
          verdict(compare(observe(run(axis, variant, elements<T>(values), size, layout)), expected),
                  context(axis, variant, fill, size)));
    }
  }

  // Integers whose sums along `axis` are exact in every order.
  static Fill exact_fill(Axis axis, SumRange range, Size size) {
    const std::int64_t length = summed_length(axis, size);
    const std::int64_t slices = size.rows * size.cols / length;
    Fill fill = exact_sums(Dtype::f32, Dtype::f32, range, slices, length);
    if (axis == Axis::columns) fill.values = transpose_oracle(fill.values, slices, length);
    return fill;
  }

  static std::vector<double> normals(Size size) {
    return normal(kDtype, size.rows * size.cols, Tensor::a).values;
  }

  Stream stream_;
};

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
  for (const std::int64_t offset : {1, 2, 3, 4}) {
    for (const std::int64_t gap : {0, 1, 4}) {
      const Size size{67, 1030};
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
        EXPECT_EQ(sum, TypeParam{0});
    }
  }
}

// The same bits in every order of threads, and each time.
TYPED_TEST(Reduction, ThreadOrdersAndRepeats) {
  const std::vector<TypeParam> x = elements<TypeParam>(this->normals(kOdd));
  for (const Axis axis : kAxes) {
    for (const Variant variant : kVariants) {
      const auto first = fnv1a64(this->run(axis, variant, x, kOdd));
      for (const Schedule& schedule : thread_orders()) {
        const ScopedSchedule scope(schedule);
        EXPECT_EQ(fnv1a64(this->run(axis, variant, x, kOdd)), first)
            << reduction::name(axis) << " " << reduction::name(variant) << " "
            << to_string(schedule);
      }
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
