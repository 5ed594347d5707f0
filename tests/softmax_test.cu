// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax against the oracle and every vendor; tolerances and their derivation in
// tests/oracle/tolerance.h.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/softmax_fixture.h"
#include "tests/support/far_rows.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"

namespace kg::test {
namespace {

using softmax::Kind;
using softmax::kVariants;
using softmax::Variant;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TYPED_TEST_SUITE(Softmax, FloatTypes, DtypeNames);
TYPED_TEST_SUITE(LogSoftmax, FloatTypes, DtypeNames);

TYPED_TEST(Softmax, ExactPlateaus) {
  for (const Size size : {Size{40, 64}, Size{60, 1000}, Size{21, 1024}, Size{14, 4099},
                          Size{3, this->beyond_shared()}}) {
    const SoftmaxFill fill = softmax_plateaus(this->kDtype, size.rows, size.cols);
    const auto x = elements<TypeParam>(fill.input.values);
    const Expectation expected = exactly(this->kDtype, {size.rows, size.cols}, fill.expected);
    // Where there are fewer rows than powers of two, no row fills all tiles.
    EXPECT_TRUE(not_vacuous(expected, size.rows < 10 ? Degenerate::sparse : Degenerate::no));
    for (const Variant variant : kVariants) {
      if (!softmax::supports(variant, size.cols)) continue;
      const Observed y = observe(this->run(variant, x, size));
      EXPECT_TRUE(verdict(compare(y, expected), this->context(variant, fill.input.name, size)));
    }
  }
}

TYPED_TEST(Softmax, RandomAgainstOracle) {
  for (const Size size :
       {Size{65, 96}, Size{33, 1000}, Size{9, 1536}, Size{5, 8200}, Size{2, this->beyond_shared()}})
    this->check("normal", this->normals(size), size);
}

// Logits far apart: exponentials that are subnormal, zero, and nearly one.
TYPED_TEST(Softmax, WideRange) {
  for (const Size size : {Size{30, 300}, Size{6, 2100}, Size{1, this->beyond_shared()}}) {
    auto x = outliers(this->kDtype, size.rows * size.cols, 7, 32, Tensor::a).values;
    for (std::int64_t i = 0; i < size.rows * size.cols; ++i) // the last tile's results are all zero
      if (i % size.cols >= size.cols - 16)
        x[static_cast<std::size_t>(i)] = -max_finite(this->kDtype);
    this->check("outliers", x, size, {}, Degenerate::sparse);
  }
}

// Maxima that come late and often: what rescaling a running sum is most sensitive to.
TYPED_TEST(Softmax, RisingRows) {
  for (const double rise : {4.0, 125.0}) {
    const Size size{2, this->beyond_shared()};
    const double slope = rise / static_cast<double>(size.cols);
    std::vector<double> x;
    for (std::int64_t i = 0; i < size.rows * size.cols; ++i)
      x.push_back(round_to(this->kDtype, slope * static_cast<double>(i % size.cols)));
    // At the steeper slope all but the last columns are as good as zero.
    this->check("rising", x, size, {}, rise < 10 ? Degenerate::no : Degenerate::sparse);
  }
}

TYPED_TEST(Softmax, Lengths) {
  for (const std::int64_t cols :
       {1,    2,    3,    7,    8,    9,    15,   16,   17,   31,    32,   33,
        63,   64,   65,   127,  128,  129,  255,  256,  257,  511,   512,  513,
        1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 16384, 16385}) {
    const Size size{cols > 4000 ? 1 : 3, cols};
    this->check("normal", this->normals(size), size, {},
                cols == 1 ? Degenerate::constant : Degenerate::no);
  }
}

TYPED_TEST(Softmax, RowCounts) {
  for (const std::int64_t rows : {1, 3, 4, 5, 127, 128, 129, 1025}) {
    const Size size{rows, 12};
    this->check("normal", this->normals(size), size);
  }
}

// More rows than a grid's y extent could count; without the blocks, whose emulation is slow.
TYPED_TEST(Softmax, ManyRows) {
  const Size size{device_properties().max_grid_yz + 4, 3};
  const auto x = elements<TypeParam>(this->normals(size));
  const auto right = this->reference(x, size);
  for (const Variant variant : {Variant::naive, Variant::warp}) {
    const auto tolerance = right.tolerances(softmax::chain(variant, size.cols));
    const Expectation expected{this->kDtype, {size.rows, size.cols}, right.value, tolerance};
    const Observed y = observe(this->run(variant, x, size));
    EXPECT_TRUE(verdict(compare(y, expected), this->context(variant, "normal", size)));
  }
}

TYPED_TEST(Softmax, EmptyMatrices) {
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{0, 0}})
    for (const Variant variant : kVariants) EXPECT_TRUE(this->run(variant, {}, size).empty());
}

// Rows that are padded, unaligned, or aligned only at their first element.
TYPED_TEST(Softmax, LayoutsAndAlignment) {
  const std::int64_t pack = this->kPack;
  for (const std::int64_t cols : {5 * pack, 64 * pack + 3, 300 * pack}) {
    const std::int64_t fill_up = (pack - cols % pack) % pack; // the gap that aligns every row
    const Size size{5, cols};
    for (const Layout layout :
         {Layout{fill_up, fill_up, 0, 0}, Layout{fill_up + pack, fill_up, 0, pack},
          Layout{fill_up, fill_up, 1, 1}, Layout{fill_up, fill_up, 0, 3},
          Layout{fill_up + 1, fill_up, 0, 0}, Layout{fill_up, fill_up + 1, 2, 0},
          Layout{fill_up, fill_up, 4, 8}, Layout{fill_up, fill_up, 7, 12}})
      this->check("normal", this->normals(size), size, layout);
  }
  const Size size{2, this->beyond_shared()};
  this->check("normal", this->normals(size), size, {1, 2, 1, 0});
}

TYPED_TEST(Softmax, SpecialValues) {
  for (const std::int64_t cols : {std::int64_t{1}, std::int64_t{2}, std::int64_t{67},
                                  std::int64_t{1024}, std::int64_t{2051}, this->beyond_shared()})
    this->check_special_values(cols);
}

TYPED_TEST(Softmax, RandomAgainstVendors) {
  for (const Size size :
       {Size{64, 200}, Size{17, 1024}, Size{8, 3001}, Size{2, this->beyond_shared()}})
    this->check_vendors(size);
}

// Whole numbers moved by a whole number: every difference is exact, so not a bit may change.
TYPED_TEST(Softmax, ShiftInvariance) {
  for (const Size size : {Size{20, 500}, Size{3, 2500}, Size{1, this->beyond_shared()}}) {
    const std::vector<double> x =
        integers(this->kDtype, size.rows * size.cols, 20, Tensor::a).values;
    std::vector<double> moved = x;
    for (double& value : moved) value -= 100;
    for (const Variant variant : kVariants) {
      if (!softmax::supports(variant, size.cols)) continue;
      EXPECT_EQ(fnv1a64(this->run(variant, elements<TypeParam>(moved), size)),
                fnv1a64(this->run(variant, elements<TypeParam>(x), size)))
          << softmax::name(variant);
    }
  }
}

TYPED_TEST(Softmax, InPlace) {
  for (const Size size : {Size{9, 700}, Size{3, 2048}, Size{2, this->beyond_shared()}})
    this->check_in_place(size);
}

TYPED_TEST(Softmax, SameBitsEveryTime) {
  for (const Size size : {Size{10, 777}, Size{4, 1500}, Size{1, this->beyond_shared()}}) {
    const auto normals = elements<TypeParam>(this->normals(size));
    const auto plateaus =
        elements<TypeParam>(softmax_plateaus(this->kDtype, size.rows, size.cols).input.values);
    for (const Variant variant : kVariants) {
      if (!softmax::supports(variant, size.cols)) continue;
      const auto& x = softmax::deterministic(variant) ? normals : plateaus;
      EXPECT_TRUE(
          same_bits_every_time(this->id(variant), [&] { return this->run(variant, x, size); }));
    }
  }
}

// Rows are computed apart: they may change places, and what is in one reaches no other.
TYPED_TEST(Softmax, RowsAreIndependent) {
  using T = TypeParam;
  for (const Size size : {Size{9, 300}, Size{5, 2500}}) {
    const std::vector<T> x = elements<T>(this->normals(size));
    const std::vector<std::int64_t> order = permutation(size.rows);
    for (const Variant variant : kVariants) {
      if (!softmax::supports(variant, size.cols)) continue;
      const std::vector<T> y = this->run(variant, x, size);
      EXPECT_TRUE(same_bits("softmax(P x) = P softmax(x)",
                            this->run(variant, permuted_rows(x, order), size),
                            permuted_rows(y, order)))
          << softmax::name(variant);
      for (const double special : {kNan, kInfinity, -kInfinity, 30.0}) {
        std::vector<T> changed = x;
        changed[static_cast<std::size_t>(3 * size.cols + size.cols - 1)] =
            elements<T>(std::vector<double>{special})[0];
        EXPECT_TRUE(only_row_differs(y, this->run(variant, changed, size), size.cols, 3))
            << softmax::name(variant) << ", " << special;
      }
    }
  }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(Softmax, WaitsForItsStream) {
  using T = TypeParam;
  for (const Size size : {Size{5, 200}, Size{3, 1500}}) {
    const auto x = elements<T>(this->normals(size));
    for (const Variant variant : kVariants) {
      if (!softmax::supports(variant, size.cols)) continue;
      const DeviceBuffer<T> y(x.size());
      const LateInput<T> late(x, this->stream_);
      softmax::run<T>(Kind::softmax, kg::matrix<const T>(late.data(), size.rows, size.cols),
                      kg::matrix<T>(y.data(), size.rows, size.cols), variant, this->stream_);
      EXPECT_TRUE(
          same_bits("behind a slow kernel", y.to_host(this->stream_), this->run(variant, x, size)))
          << softmax::name(variant);
    }
  }
}

TYPED_TEST(Softmax, RowsFarApart) {
  using T = TypeParam;
  if (const auto reason = FarRows<T>::reason_to_skip(2); !reason.empty()) GTEST_SKIP() << reason;
  for (const std::int64_t cols : {40 * this->kPack, 300 * this->kPack}) {
    const Size size{2, cols};
    const auto x = elements<T>(this->normals(size));
    const FarRows<T> from = far_rows(x, this->stream_);
    const FarRows<T> to(cols);
    for (const Variant variant : kVariants) {
      if (!softmax::supports(variant, cols)) continue;
      to.put(poisoned<T>(2 * cols), this->stream_);
      softmax::run<T>(Kind::softmax, from.const_view(), to.view(), variant, this->stream_);
      EXPECT_TRUE(same_bits("rows beyond 2^31 elements", to.get(this->stream_),
                            this->run(variant, x, size)))
          << softmax::name(variant);
      EXPECT_NO_THROW(to.check_guards());
    }
  }
}

TYPED_TEST(Softmax, AutomaticReportsWhatRan) {
  using T = TypeParam;
  for (const std::int64_t cols : {softmax::kWarpMaxCols, softmax::kWarpMaxCols + 1}) {
    const auto data =
        DeviceBuffer<T>::from_host(std::vector<T>(static_cast<std::size_t>(cols)), this->stream_);
    LaunchRecorder recorder;
    const Variant ran =
        softmax::run<T>(Kind::softmax, kg::matrix<const T>(data.data(), 1, cols),
                        kg::matrix<T>(data.data(), 1, cols), Variant::automatic, this->stream_);
    EXPECT_EQ(ran, cols <= softmax::kWarpMaxCols ? Variant::warp : Variant::block);
    ASSERT_EQ(recorder.launches().size(), 1u);
    EXPECT_NE(recorder.launches()[0].kernel_name.find(softmax::name(ran)), std::string::npos);
    EXPECT_EQ(softmax::chain(Variant::automatic, cols), softmax::chain(ran, cols));
  }
}

TYPED_TEST(Softmax, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(4096);
  T* const p = data.data();
  const auto run = [&](MatrixView<const T> x, MatrixView<T> y,
                       Variant variant = Variant::automatic) {
    softmax::run<T>(Kind::softmax, x, y, variant, this->stream_);
  };
  LaunchRecorder recorder;
  EXPECT_THROW(run({p, {-1, 4}, {4, 1}}, {p, {-1, 4}, {4, 1}}), Error);
  EXPECT_THROW(run({p, {4, -1}, {4, 1}}, {p, {4, -1}, {4, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {8, 1}}, {p, {4, 7}, {8, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {7, 1}}, {p, {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {8, 1}}, {p, {4, 8}, {7, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {16, 2}}, {p, {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({nullptr, {4, 8}, {8, 1}}, {p, {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {8, 1}}, {nullptr, {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({p, {1, 1025}, {1025, 1}}, {p, {1, 1025}, {1025, 1}}, Variant::warp), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

// Rows whose largest element stands at least 104 above the others, whose exponentials then vanish
// beside 1: the sum is 1, its logarithm 0, and the results are the differences, all integers. They
// use as many bits as T has.
TYPED_TEST(LogSoftmax, ExactDifferences) {
  const auto integers = static_cast<std::int64_t>(1 / unit_roundoff(this->kDtype)); // below: exact
  const Random random(seed(), 23);
  for (const Size size :
       {Size{20, 64}, Size{7, 1000}, Size{6, 2051}, Size{2, this->beyond_shared()}}) {
    std::vector<double> x;
    std::vector<double> expected;
    for (std::int64_t i = 0; i < size.rows * size.cols; ++i) {
      const std::int64_t row = i / size.cols;
      const auto counter = static_cast<std::uint64_t>(i);
      const auto of_row = static_cast<std::uint64_t>(size.rows * size.cols + 2 * row);
      const std::int64_t most = random.integer(of_row, -integers / 4, integers / 4);
      const bool largest = i % size.cols == random.integer(of_row + 1, 0, size.cols - 1);
      const std::int64_t below = largest ? 0 : random.integer(counter, 104, integers / 2);
      x.push_back(static_cast<double>(most - below));
      expected.push_back(static_cast<double>(-below));
    }
    const Expectation right = exactly(this->kDtype, {size.rows, size.cols}, expected);
    EXPECT_TRUE(not_vacuous(right));
    for (const Variant variant : kVariants) {
      if (!softmax::supports(variant, size.cols)) continue;
      const Observed y = observe(this->run(variant, elements<TypeParam>(x), size));
      EXPECT_TRUE(verdict(compare(y, right), this->context(variant, "differences", size)));
    }
  }
}

TYPED_TEST(LogSoftmax, RandomAgainstOracle) {
  for (const Size size : {Size{65, 96}, Size{33, 1000}, Size{2, this->beyond_shared()}})
    this->check("normal", this->normals(size), size);
}

// Results that softmax would round to 0: their logarithms are finite.
TYPED_TEST(LogSoftmax, WideRange) {
  for (const Size size : {Size{30, 300}, Size{6, 2100}, Size{1, this->beyond_shared()}})
    this->check("outliers", outliers(this->kDtype, size.rows * size.cols, 7, 64, Tensor::a).values,
                size);
}

TYPED_TEST(LogSoftmax, Lengths) {
  for (const std::int64_t cols : {1, 2, 9, 33, 129, 1023, 1025, 4097}) {
    const Size size{3, cols};
    this->check("normal", this->normals(size), size, {},
                cols == 1 ? Degenerate::zero : Degenerate::no);
  }
}

TYPED_TEST(LogSoftmax, LayoutsAndAlignment) {
  const std::int64_t pack = this->kPack;
  const Size size{5, 64 * pack + 3};
  for (const Layout layout :
       {Layout{pack - 3, pack - 3, 0, 0}, Layout{pack - 3, pack - 3, 1, 1}, Layout{0, 5, 2, 0}})
    this->check("normal", this->normals(size), size, layout);
}

TYPED_TEST(LogSoftmax, SpecialValues) {
  for (const std::int64_t cols :
       {std::int64_t{7}, std::int64_t{67}, std::int64_t{2051}, this->beyond_shared()})
    this->check_special_values(cols);
}

TYPED_TEST(LogSoftmax, RandomAgainstVendors) {
  for (const Size size : {Size{64, 200}, Size{8, 3001}, Size{2, this->beyond_shared()}})
    this->check_vendors(size);
}

TYPED_TEST(LogSoftmax, EmptyInPlaceAndSameBitsEveryTime) {
  for (const Size size : {Size{9, 700}, Size{3, 2048}}) {
    this->check_in_place(size);
    const auto x = elements<TypeParam>(this->normals(size));
    for (const Variant variant : kVariants) {
      EXPECT_TRUE(this->run(variant, {}, {0, 5}).empty());
      if (!softmax::supports(variant, size.cols)) continue;
      EXPECT_TRUE(
          same_bits_every_time(this->id(variant), [&] { return this->run(variant, x, size); }));
    }
  }
}

TYPED_TEST(Softmax, WorkIsOneReadAndOneWrite) {
  const Work work = softmax::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 2000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 4000.0);
}

} // namespace
} // namespace kg::test
