// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax_backward against the oracle and every vendor; tolerances and their derivation in
// tests/oracle/tolerance_softmax.h.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/oracle/vendor_comparison.h"
#include "tests/softmax_backward_fixture.h"
#include "tests/support/far_rows.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/softmax_backward/softmax_backward.h"

namespace kg::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TYPED_TEST_SUITE(SoftmaxBackward, FloatTypes, DtypeNames);

// y of 2^j equal powers of two and zeros, dy of integers: each product, sum and difference is exact
// in f32, in any order, and the result is rounded once. In log form a row of -inf with one 0, whose
// probabilities are 0 and 1.
TYPED_TEST(SoftmaxBackward, ExactRows) {
  for (const Size size :
       {Size{40, 64}, Size{20, 1000}, Size{11, 2051}, Size{2, this->beyond_shared()}}) {
    const std::int64_t count = size.rows * size.cols;
    const std::vector<double> dy = integers(this->kDtype, count, 120, Tensor::b).values;
    const std::vector<double> plateaus =
        softmax_plateaus(this->kDtype, size.rows, size.cols).expected;
    std::vector<double> logs;
    for (std::int64_t i = 0; i < count; ++i)
      logs.push_back(i % size.cols == i / size.cols * 7 % size.cols ? 0 : -kInfinity);
    for (const Kind kind : softmax::kKinds) {
      const std::vector<double>& y = kind == Kind::softmax ? plateaus : logs;
      const typename TestFixture::Inputs in{elements<TypeParam>(y), elements<TypeParam>(dy)};
      std::vector<double> expected = this->reference(kind, in, size).oracle.value;
      for (double& value : expected) value = round_to(this->kDtype, value);
      const Expectation right{this->kDtype, {size.rows, size.cols}, expected, {}};
      // Where there are fewer rows than powers of two, no row fills all tiles.
      const bool sparse = kind == Kind::softmax && size.rows < 10;
      EXPECT_TRUE(not_vacuous(right, sparse ? Degenerate::sparse : Degenerate::no));
      for (const Variant variant : kVariants) {
        if (!softmax_backward::supports(variant, size.cols)) continue;
        const Observed dx = observe(this->run(kind, variant, in, size));
        EXPECT_TRUE(verdict(compare(dx, right), this->context(kind, variant, "plateaus", size)));
      }
    }
  }
}

// Probabilities so small that the results are subnormal, and exact.
TYPED_TEST(SoftmaxBackward, SubnormalResults) {
  const double least = 4 * min_subnormal(this->kDtype);
  for (const Size size : {Size{9, 64}, Size{4, 1500}}) {
    const std::int64_t count = size.rows * size.cols;
    std::vector<double> dy = integers(this->kDtype, count, 30, Tensor::b).values;
    for (double& value : dy)
      if (value == 0) value = 31; // 0 less the tiny sum has its sign
    const typename TestFixture::Inputs in{
        elements<TypeParam>(std::vector<double>(dy.size(), least)), elements<TypeParam>(dy)};
    std::vector<double> expected;
    for (const double value : dy) expected.push_back(value * least);
    const Expectation right = exactly(this->kDtype, {size.rows, size.cols}, expected);
    EXPECT_TRUE(not_vacuous(right));
    for (const Variant variant : kVariants) {
      if (!softmax_backward::supports(variant, size.cols)) continue;
      EXPECT_TRUE(verdict(compare(observe(this->run(Kind::softmax, variant, in, size)), right),
                          this->context(Kind::softmax, variant, "subnormal", size)));
    }
  }
}

TYPED_TEST(SoftmaxBackward, RandomAgainstOracle) {
  for (const Kind kind : softmax::kKinds)
    for (const Size size : {Size{65, 96}, Size{33, 1000}, Size{9, 1536}, Size{5, 8200},
                            Size{2, this->beyond_shared()}})
      this->check(kind, "normal", this->normals(kind, size), size);
}

// dy of one sign beside probabilities: what cancels is the whole difference.
TYPED_TEST(SoftmaxBackward, GradientsOfOneSign) {
  for (const Kind kind : softmax::kKinds)
    for (const Size size : {Size{9, 500}, Size{3, 3000}}) {
      auto in = this->normals(kind, size);
      in.dy = elements<TypeParam>(positive(this->kDtype, size.rows * size.cols, Tensor::b).values);
      this->check(kind, "positive", in, size);
    }
}

TYPED_TEST(SoftmaxBackward, Lengths) {
  for (const std::int64_t cols : {2,   3,   7,   8,   9,    16,   31,   32,   33,   63,   65,   127,
                                  129, 255, 256, 257, 1023, 1024, 1025, 2049, 4096, 4097, 16385}) {
    const Size size{cols > 4000 ? 1 : 3, cols};
    const Kind kind = cols % 2 == 0 ? Kind::softmax : Kind::log_softmax;
    this->check(kind, "normal", this->normals(kind, size), size);
  }
}

// One element: y is 1 and dx 0.
TYPED_TEST(SoftmaxBackward, RowsOfOneElement) {
  const Size size{5, 1};
  for (const Kind kind : softmax::kKinds)
    this->check(kind, "normal", this->normals(kind, size), size, {}, Degenerate::zero);
}

TYPED_TEST(SoftmaxBackward, RowCounts) {
  for (const std::int64_t rows : {1, 3, 4, 5, 127, 129, 1025}) {
    const Size size{rows, 12};
    this->check(Kind::softmax, "normal", this->normals(Kind::softmax, size), size);
  }
}

// More rows than a grid's y extent could count; without the blocks, whose emulation is slow.
TYPED_TEST(SoftmaxBackward, ManyRows) {
  const Size size{device_properties().max_grid_yz + 4, 3};
  const auto in = this->normals(Kind::softmax, size);
  const auto right = this->reference(Kind::softmax, in, size);
  for (const Variant variant : {Variant::naive, Variant::warp}) {
    const auto tolerance = right.tolerances(softmax_backward::chain(variant, size.cols));
    const Expectation expected{this->kDtype, {size.rows, size.cols}, right.oracle.value, tolerance};
    const Observed dx = observe(this->run(Kind::softmax, variant, in, size));
    EXPECT_TRUE(
        verdict(compare(dx, expected), this->context(Kind::softmax, variant, "normal", size)));
  }
}

TYPED_TEST(SoftmaxBackward, EmptyMatrices) {
  for (const Kind kind : softmax::kKinds)
    for (const Size size : {Size{0, 5}, Size{5, 0}, Size{0, 0}})
      for (const Variant variant : kVariants)
        EXPECT_TRUE(this->run(kind, variant, {}, size).empty());
}

// Rows that are padded, unaligned, or aligned only at their first element.
TYPED_TEST(SoftmaxBackward, LayoutsAndAlignment) {
  const std::int64_t pack = this->kPack;
  for (const std::int64_t cols : {5 * pack, 64 * pack + 3, 300 * pack}) {
    const std::int64_t fill = (pack - cols % pack) % pack; // the gap that aligns every row
    const Size size{4, cols};
    for (const Layout layout :
         {Layout{fill, fill, fill, 0, 0, 0}, Layout{fill + pack, fill, fill, 0, 0, pack},
          Layout{fill, fill, fill, 1, 1, 1}, Layout{fill, fill, fill, 0, 3, 0},
          Layout{fill + 1, fill, fill, 0, 0, 0}, Layout{fill, fill + 1, fill, 2, 0, 0},
          Layout{fill, fill, fill + 2, 0, 0, 7}, Layout{0, 1, 2, 0, 0, 0}})
      this->check(Kind::softmax, "normal", this->normals(Kind::softmax, size), size, layout);
  }
  const Size size{2, this->beyond_shared()};
  this->check(Kind::softmax, "normal", this->normals(Kind::softmax, size), size,
              {1, 2, 3, 1, 0, 0});
}

// One special value of y or dy in each place that a thread, a pack or a row could lose; the other
// rows stay as they are.
TYPED_TEST(SoftmaxBackward, SpecialValues) {
  for (const Kind kind : softmax::kKinds)
    for (const std::int64_t cols : {std::int64_t{8}, std::int64_t{67}, std::int64_t{1024},
                                    std::int64_t{2051}, this->beyond_shared()}) {
      const Size size{cols < 4096 ? 24 : 8, cols};
      auto in = this->normals(kind, size);
      std::int64_t row = 0;
      const auto put = [&](std::vector<TypeParam>& to, std::int64_t place, double value) {
        to[static_cast<std::size_t>(row++ * cols + place)] =
            elements<TypeParam>(std::vector<double>{value})[0];
      };
      for (const std::int64_t place : {cols - 1, std::int64_t{0}, cols / 2}) {
        if (row + 6 > size.rows) break;
        for (const double special : {kNan, kInfinity, -kInfinity}) {
          put(in.y, place, special);
          put(in.dy, place, special);
        }
      }
      this->check(kind, "special", in, size);
    }
}

TYPED_TEST(SoftmaxBackward, RandomAgainstVendors) {
  using T = TypeParam;
  for (const Kind kind : softmax::kKinds) {
    const auto form =
        kind == Kind::softmax ? vendor::SoftmaxKind::softmax : vendor::SoftmaxKind::log_softmax;
    const auto vendors = vendor::softmax_backward_variants(form, this->kDtype);
    if (vendors.empty()) report_no_vendor("softmax_backward", this->kDtype, name(kind));
    for (const Size size : {Size{64, 200}, Size{8, 3001}}) {
      const auto in = this->normals(kind, size);
      const auto right = this->reference(kind, in, size);
      for (const Variant variant : kVariants) {
        if (!softmax_backward::supports(variant, size.cols)) continue;
        const auto tolerance = right.tolerances(softmax_backward::chain(variant, size.cols));
        const auto vendor_tolerance = right.tolerances(size.cols); // it may add one by one
        const Expectation expected{
            this->kDtype, {size.rows, size.cols}, right.oracle.value, tolerance, right.unit};
        const Observed ours = observe(this->run(kind, variant, in, size)); // before the vendor
        EXPECT_TRUE(verdict(compare(ours, expected), this->context(kind, variant, "normal", size)));
        for (const std::string_view vendor : vendors) {
          const auto y = DeviceBuffer<T>::from_host(in.y, this->stream_);
          const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
          const DeviceBuffer<T> dx(in.y.size());
          vendor::softmax_backward(vendor, form, this->kDtype, y.data(), dy.data(), dx.data(),
                                   size.rows, size.cols, this->stream_);
          const Observed theirs = observe(dx.to_host(this->stream_));
          EXPECT_TRUE(
              verdict(compare_with_vendor(ours, theirs, expected, vendor_tolerance),
                      this->context(kind, variant, "normal beside " + std::string(vendor), size)));
        }
      }
    }
  }
}

// dx = y and dx = dy.
TYPED_TEST(SoftmaxBackward, InPlace) {
  using T = TypeParam;
  for (const Kind kind : softmax::kKinds)
    for (const Size size : {Size{9, 700}, Size{3, 2048}, Size{1, this->beyond_shared()}}) {
      const auto in = this->normals(kind, size);
      for (const Variant variant : kVariants) {
        if (!softmax_backward::supports(variant, size.cols)) continue;
        const auto expected = this->run(kind, variant, in, size);
        for (const bool into_y : {true, false}) {
          const auto y = DeviceBuffer<T>::from_host(in.y, this->stream_);
          const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
          const auto& dx = into_y ? y : dy;
          softmax_backward::run<T>(kind, kg::matrix<const T>(y.data(), size.rows, size.cols),
                                   kg::matrix<const T>(dy.data(), size.rows, size.cols),
                                   kg::matrix<T>(dx.data(), size.rows, size.cols), variant,
                                   this->stream_);
          EXPECT_TRUE(same_bits(into_y ? "dx = y" : "dx = dy", dx.to_host(this->stream_), expected))
              << softmax_backward::name(variant);
          EXPECT_NO_THROW(dx.check_guards());
        }
      }
    }
}

TYPED_TEST(SoftmaxBackward, SameBitsEveryTime) {
  for (const Kind kind : softmax::kKinds)
    for (const Size size : {Size{10, 777}, Size{4, 1500}}) {
      const auto in = this->normals(kind, size);
      for (const Variant variant : kVariants) {
        static_assert(softmax_backward::deterministic(Variant::automatic));
        if (!softmax_backward::supports(variant, size.cols)) continue;
        EXPECT_TRUE(same_bits_every_time(this->id(kind, variant),
                                         [&] { return this->run(kind, variant, in, size); }));
      }
    }
}

// The gradient of a constant is 0: softmax is invariant to shifts of dy, bit for bit where all is
// exact. And rows are computed apart.
TYPED_TEST(SoftmaxBackward, Relations) {
  using T = TypeParam;
  for (const Size size : {Size{9, 256}, Size{5, 2048}}) {
    const std::int64_t count = size.rows * size.cols;
    const double power = 1.0 / static_cast<double>(size.cols);
    std::vector<double> dy = integers(this->kDtype, count, 50, Tensor::b).values;
    const std::vector<T> y = elements<T>(std::vector<double>(dy.size(), power));
    std::vector<double> moved = dy;
    for (double& value : moved) value += 60;
    const auto in = this->normals(Kind::softmax, size);
    const std::vector<std::int64_t> order = permutation(size.rows);
    for (const Variant variant : kVariants) {
      if (!softmax_backward::supports(variant, size.cols)) continue;
      EXPECT_TRUE(same_bits("dx(y, dy + c) = dx(y, dy)",
                            this->run(Kind::softmax, variant, {y, elements<T>(moved)}, size),
                            this->run(Kind::softmax, variant, {y, elements<T>(dy)}, size)));
      EXPECT_TRUE(
          same_bits("dx(P y, P dy) = P dx(y, dy)",
                    this->run(Kind::softmax, variant,
                              {permuted_rows(in.y, order), permuted_rows(in.dy, order)}, size),
                    permuted_rows(this->run(Kind::softmax, variant, in, size), order)));
    }
  }
}

// On a stream whose earlier work still writes dy.
TYPED_TEST(SoftmaxBackward, WaitsForItsStream) {
  using T = TypeParam;
  for (const Size size : {Size{5, 200}, Size{3, 1500}}) {
    const auto in = this->normals(Kind::softmax, size);
    const auto y = DeviceBuffer<T>::from_host(in.y, this->stream_);
    for (const Variant variant : kVariants) {
      if (!softmax_backward::supports(variant, size.cols)) continue;
      const DeviceBuffer<T> dx(in.y.size());
      const LateInput<T> late(in.dy, this->stream_);
      softmax_backward::run<T>(Kind::softmax, kg::matrix<const T>(y.data(), size.rows, size.cols),
                               kg::matrix<const T>(late.data(), size.rows, size.cols),
                               kg::matrix<T>(dx.data(), size.rows, size.cols), variant,
                               this->stream_);
      EXPECT_TRUE(same_bits("behind a slow kernel", dx.to_host(this->stream_),
                            this->run(Kind::softmax, variant, in, size)));
    }
  }
}

TYPED_TEST(SoftmaxBackward, RowsFarApart) {
  using T = TypeParam;
  if (const auto reason = FarRows<T>::reason_to_skip(3); !reason.empty()) GTEST_SKIP() << reason;
  for (const std::int64_t cols : {40 * this->kPack, 300 * this->kPack}) {
    const Size size{2, cols};
    const auto in = this->normals(Kind::softmax, size);
    const FarRows<T> y = far_rows(in.y, this->stream_);
    const FarRows<T> dy = far_rows(in.dy, this->stream_);
    const FarRows<T> dx(cols);
    for (const Variant variant : kVariants) {
      if (!softmax_backward::supports(variant, cols)) continue;
      dx.put(poisoned<T>(2 * cols), this->stream_);
      softmax_backward::run<T>(Kind::softmax, y.const_view(), dy.const_view(), dx.view(), variant,
                               this->stream_);
      EXPECT_TRUE(same_bits("rows beyond 2^31 elements", dx.get(this->stream_),
                            this->run(Kind::softmax, variant, in, size)))
          << softmax_backward::name(variant);
      EXPECT_NO_THROW(dx.check_guards());
    }
  }
}

TYPED_TEST(SoftmaxBackward, AutomaticReportsWhatRan) {
  using T = TypeParam;
  for (const std::int64_t cols :
       {softmax_backward::kWarpMaxCols, softmax_backward::kWarpMaxCols + 1}) {
    const auto data =
        DeviceBuffer<T>::from_host(std::vector<T>(static_cast<std::size_t>(cols)), this->stream_);
    const auto in = kg::matrix<const T>(data.data(), 1, cols);
    LaunchRecorder recorder;
    const Variant ran =
        softmax_backward::run<T>(Kind::softmax, in, in, kg::matrix<T>(data.data(), 1, cols),
                                 Variant::automatic, this->stream_);
    EXPECT_EQ(ran, cols <= softmax_backward::kWarpMaxCols ? Variant::warp : Variant::block);
    ASSERT_EQ(recorder.launches().size(), 1u);
    EXPECT_NE(recorder.launches()[0].kernel_name.find(softmax_backward::name(ran)),
              std::string::npos);
    EXPECT_EQ(softmax_backward::chain(Variant::automatic, cols),
              softmax_backward::chain(ran, cols));
  }
}

TYPED_TEST(SoftmaxBackward, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(4096);
  T* const p = data.data();
  const MatrixView<const T> in{p, {4, 8}, {8, 1}};
  const MatrixView<T> out{p, {4, 8}, {8, 1}};
  const auto run = [&](MatrixView<const T> y, MatrixView<const T> dy, MatrixView<T> dx,
                       Variant variant = Variant::automatic) {
    softmax_backward::run<T>(Kind::softmax, y, dy, dx, variant, this->stream_);
  };
  LaunchRecorder recorder;
  EXPECT_THROW(run({p, {-1, 8}, {8, 1}}, in, out), Error);
  EXPECT_THROW(run({p, {4, 7}, {8, 1}}, in, out), Error);
  EXPECT_THROW(run(in, {p, {3, 8}, {8, 1}}, out), Error);
  EXPECT_THROW(run(in, in, {p, {4, 7}, {8, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {7, 1}}, in, out), Error);
  EXPECT_THROW(run(in, {p, {4, 8}, {7, 1}}, out), Error);
  EXPECT_THROW(run(in, in, {p, {4, 8}, {7, 1}}), Error);
  EXPECT_THROW(run(in, {p, {4, 8}, {16, 2}}, out), Error);
  EXPECT_THROW(run({nullptr, {4, 8}, {8, 1}}, in, out), Error);
  EXPECT_THROW(run(in, {nullptr, {4, 8}, {8, 1}}, out), Error);
  EXPECT_THROW(run(in, in, {nullptr, {4, 8}, {8, 1}}), Error);
  const MatrixView<const T> wide{p, {1, 1025}, {1025, 1}};
  EXPECT_THROW(run(wide, wide, {p, {1, 1025}, {1025, 1}}, Variant::warp), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(SoftmaxBackward, WorkIsTwoReadsAndOneWrite) {
  const Work work = softmax_backward::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 3000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 4000.0);
}

} // namespace
} // namespace kg::test
