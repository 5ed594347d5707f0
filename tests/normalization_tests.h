// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tests that rmsnorm and layernorm share; rmsnorm_test.cu and layernorm_test.cu instantiate
// them and add their own. Tolerances and their derivation: tests/oracle/tolerance_rows.h.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "tests/normalization_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"

namespace kg::test {

TYPED_TEST_SUITE_P(NormForward);

TYPED_TEST_P(NormForward, RandomAgainstOracle) {
  for (const Size size : {Size{65, 96}, Size{33, 1000}, Size{9, 1536}, Size{3, 8200},
                          Size{2, this->beyond_block()}, Size{1, 2 * this->beyond_block()}})
    this->check("normal", this->normals(size));
}

TYPED_TEST_P(NormForward, Lengths) {
  for (const std::int64_t cols :
       {2,   3,   7,   8,   9,   15,  16,  17,  31,   32,   33,   63,   64,   65,   127,   128,
        129, 255, 256, 257, 511, 512, 513, 997, 1023, 1024, 1025, 2047, 2049, 4099, 16384, 16385})
    this->check("normal", this->normals({cols > 4000 ? 2 : 3, cols}));
}

TYPED_TEST_P(NormForward, RowCounts) {
  for (const std::int64_t rows : {1, 3, 4, 5, 127, 128, 129})
    this->check("normal", this->normals({rows, 24}));
}

// More rows than a grid's y extent could count; without the blocks, whose emulation is slow.
TYPED_TEST_P(NormForward, ManyRows) {
  const Size size{device_properties().max_grid_yz + 4, 3};
  const auto in = this->normals(size);
  const auto right = this->reference(in);
  for (const Variant variant : {Variant::naive, Variant::warp}) {
    const auto tolerance = this->tolerances(right.oracle, normalization::chain(variant, 3));
    const Expectation expected{this->kDtype, {size.rows, size.cols}, right.oracle.value, tolerance};
    EXPECT_TRUE(verdict(compare(observe(this->run(variant, in).y), expected),
                        this->context(variant, "normal", size)));
  }
}

// Rows without elements have no statistics: none are written.
TYPED_TEST_P(NormForward, EmptyMatrices) {
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{0, 0}})
    for (const Variant variant : kVariants) {
      const auto result = this->run(variant, this->normals(size));
      EXPECT_TRUE(result.y.empty());
      for (const float rstd : result.rstd) EXPECT_TRUE(is_poison(rstd));
    }
}

// Rows and parameters that are padded, unaligned, or aligned only at their first element.
TYPED_TEST_P(NormForward, LayoutsAndAlignment) {
  const std::int64_t pack = this->kPack;
  for (const std::int64_t cols : {5 * pack, 40 * pack + 3, 160 * pack}) {
    const std::int64_t fill_up = (pack - cols % pack) % pack; // the gap that aligns every row
    for (const Layout layout :
         {Layout{fill_up, fill_up, 0, 0, 0}, Layout{fill_up + pack, fill_up, 0, pack, 0},
          Layout{fill_up, fill_up, 1, 1, 1}, Layout{fill_up, fill_up, 0, 3, 0},
          Layout{fill_up + 1, fill_up, 0, 0, 0}, Layout{fill_up, fill_up + 1, 2, 0, 0},
          Layout{fill_up, fill_up, 0, 0, 1}, Layout{fill_up, fill_up, 4, 8, pack},
          Layout{fill_up, fill_up, 7, 12, 0}})
      this->check("normal", this->normals({3, cols}), layout);
  }
  this->check("normal", this->normals({2, this->beyond_block()}), {1, 2, 1, 0, 3});
}

TYPED_TEST_P(NormForward, OptionalArguments) {
  for (const Size size : {Size{20, 100}, Size{3, 1300}, Size{2, this->beyond_block()}}) {
    const auto all = this->normals(size);
    auto in = all;
    in.wants_mean = false;
    this->check("no mean", in);
    in.wants_rstd = false;
    this->check("no statistics", in);
    in.wants_mean = true;
    this->check("no rstd", in);
    in = all;
    in.gamma.clear();
    this->check("no gamma", in);
    in.beta.clear();
    this->check("no gamma, no beta", in);
    in.gamma = all.gamma;
    this->check("no beta", in);
  }
}

// Rows from almost nothing to 2^40 (f16: 2^12), with epsilons that matter and that do not.
TYPED_TEST_P(NormForward, Scales) {
  const Size size{2, 300};
  const bool narrow = this->kDtype == Dtype::f16;
  for (const float epsilon : {0.0f, 1e-12f, 1e-5f, 2.0f})
    for (const int exponent : {narrow ? -6 : -30, 0, narrow ? 12 : 40}) {
      const auto x =
          scaled(normal(this->kDtype, size.rows * size.cols, Tensor::a).values, exponent);
      std::vector<double> rounded;
      for (const double value : x) rounded.push_back(round_to(this->kDtype, value));
      // What epsilon makes so small that a 16-bit type has no digits for it is no case.
      if (narrow && epsilon > 1 && exponent < 0) continue;
      this->check("scaled", this->make(size, rounded, epsilon));
    }
}

// One special value in each place that a thread, a pack or a row could lose; the other rows stay as
// they are.
TYPED_TEST_P(NormForward, SpecialValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t cols : {std::int64_t{2}, std::int64_t{67}, std::int64_t{1024},
                                  std::int64_t{2051}, this->beyond_block()}) {
    std::vector<double> x;
    std::int64_t rows = 0;
    const auto add_row = [&](double everywhere,
                             std::vector<std::pair<std::int64_t, double>> special) {
      std::vector<double> row = normal(this->kDtype, cols, Tensor::a).values;
      if (everywhere != 0) std::fill(row.begin(), row.end(), everywhere);
      for (const auto& [place, value] : special) row[static_cast<std::size_t>(place)] = value;
      x.insert(x.end(), row.begin(), row.end());
      const std::vector<double> ordinary = normal(this->kDtype, cols, Tensor::c).values;
      x.insert(x.end(), ordinary.begin(), ordinary.end());
      rows += 2;
    };
    for (const double special : {kNan, kInfinity, -kInfinity}) {
      add_row(0, {{cols - 1, special}});
      if (cols > 4096) continue;
      add_row(0, {{0, special}});
      add_row(0, {{cols / 2, special}});
      add_row(special, {});
    }
    add_row(0, {{0, kInfinity}, {cols - 1, -kInfinity}});
    add_row(0, {{cols / 2, kInfinity}, {cols - 1, kNan}});
    this->check("special", this->make({rows, cols}, x));
  }
}

TYPED_TEST_P(NormForward, InPlace) {
  using T = typename TypeParam::T;
  using Norm = typename TypeParam::Norm;
  for (const Size size : {Size{9, 700}, Size{3, 2048}, Size{2, this->beyond_block()}}) {
    const auto in = this->normals(size);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto x = this->upload(in.x, this->stream_);
      const auto gamma = this->upload(in.gamma, this->stream_);
      Norm::template run<T>(kg::matrix<const T>(x.data(), size.rows, size.cols), gamma.data(),
                            nullptr, in.epsilon, kg::matrix<T>(x.data(), size.rows, size.cols),
                            nullptr, nullptr, variant, this->stream_);
      auto apart = in;
      apart.beta.clear();
      EXPECT_TRUE(same_bits("in place", x.to_host(this->stream_), this->run(variant, apart).y))
          << name(variant);
      EXPECT_NO_THROW(x.check_guards());
    }
  }
}

TYPED_TEST_P(NormForward, SameBitsEveryTime) {
  for (const Size size : {Size{10, 777}, Size{3, 1500}, Size{1, this->beyond_block()}}) {
    const auto in = this->normals(size);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      EXPECT_TRUE(
          same_bits_every_time(this->id(variant), [&] { return this->run(variant, in).y; }));
    }
  }
}

// Rows are computed apart: they may change places, and what is in one reaches no other.
TYPED_TEST_P(NormForward, RowsAreIndependent) {
  for (const Size size : {Size{9, 300}, Size{5, 1300}}) {
    const auto in = this->normals(size);
    const std::vector<std::int64_t> order = permutation(size.rows);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto y = this->run(variant, in).y;
      auto changed = in;
      changed.x = permuted_rows(in.x, order);
      EXPECT_TRUE(same_bits("norm(P x) = P norm(x)", this->run(variant, changed).y,
                            permuted_rows(y, order)))
          << name(variant);
      for (const double special : {std::numeric_limits<double>::quiet_NaN(), 30.0}) {
        changed.x = in.x;
        changed.x[static_cast<std::size_t>(4 * size.cols - 1)] = this->stored({special})[0];
        EXPECT_TRUE(only_row_differs(y, this->run(variant, changed).y, size.cols, 3))
            << name(variant) << ", " << special;
      }
    }
  }
}

// On a stream whose earlier work still writes x.
TYPED_TEST_P(NormForward, WaitsForItsStream) {
  using T = typename TypeParam::T;
  for (const Size size : {Size{5, 200}, Size{3, 1500}}) {
    auto in = this->normals(size);
    in.gamma.clear();
    in.beta.clear();
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const DeviceBuffer<T> y(in.x.size());
      const LateInput<T> late(in.x, this->stream_);
      TypeParam::Norm::template run<T>(
          kg::matrix<const T>(late.data(), size.rows, size.cols), nullptr, nullptr, in.epsilon,
          kg::matrix<T>(y.data(), size.rows, size.cols), nullptr, nullptr, variant, this->stream_);
      EXPECT_TRUE(
          same_bits("behind a slow kernel", y.to_host(this->stream_), this->run(variant, in).y))
          << name(variant);
    }
  }
}

// Indices beyond 32 bits, in place. Rows of one value everywhere, and three of +2 and -2: with
// epsilon 12 those give one half.
TYPED_TEST_P(NormForward, MoreThan2To31Elements) {
  using T = typename TypeParam::T;
  using Norm = typename TypeParam::Norm;
  constexpr std::int64_t kCols = 1024;
  constexpr std::int64_t kRows = (std::int64_t{1} << 31) / kCols + 3;
  constexpr float kEpsilon = 12;
  const std::string reason = too_huge_reason(kRows * kCols * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0x3C; // a normal number of each type
  const double filled = to_double(from_raw_bits<T>(0x3C3C3C3Cu & poison_bits(this->kDtype)));
  const double everywhere = Norm::kCentred ? 0 : filled / std::sqrt(filled * filled + kEpsilon);
  const auto value = [&](double of) { return this->stored({round_to(this->kDtype, of)})[0]; };
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> x(static_cast<std::size_t>(kRows * kCols));
    fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
    Marks<T> before, after;
    for (const std::int64_t row : {std::int64_t{0}, kRows - 3, kRows - 1})
      for (std::int64_t i = row * kCols; i < (row + 1) * kCols; ++i) {
        before[i] = value(i % 2 ? -2 : 2);
        after[i] = value(i % 2 ? -0.5 : 0.5);
      }
    put(before, x, this->stream_);
    Norm::template run<T>(kg::matrix<const T>(x.data(), kRows, kCols), nullptr, nullptr, kEpsilon,
                          kg::matrix<T>(x.data(), kRows, kCols), nullptr, nullptr, variant,
                          this->stream_);
    EXPECT_TRUE(holds(x, value(everywhere), after, this->stream_)) << name(variant);
    EXPECT_NO_THROW(x.check_guards());
  }
}

TYPED_TEST_P(NormForward, AutomaticReportsWhatRan) {
  using T = typename TypeParam::T;
  for (const std::int64_t cols : {normalization::kWarpMaxCols, normalization::kWarpMaxCols + 1}) {
    const auto data = this->upload(this->normals({1, cols}).x, this->stream_);
    LaunchRecorder recorder;
    const Variant ran = TypeParam::Norm::template run<T>(
        kg::matrix<const T>(data.data(), 1, cols), nullptr, nullptr, 1,
        kg::matrix<T>(data.data(), 1, cols), nullptr, nullptr, Variant::automatic, this->stream_);
    EXPECT_EQ(ran, cols <= normalization::kWarpMaxCols ? Variant::warp : Variant::block);
    ASSERT_EQ(recorder.launches().size(), 1u);
    EXPECT_NE(recorder.launches()[0].kernel_name.find(name(ran)), std::string::npos);
    EXPECT_EQ(normalization::chain(Variant::automatic, cols), normalization::chain(ran, cols));
  }
}

TYPED_TEST_P(NormForward, RefusesWrongArguments) {
  using T = typename TypeParam::T;
  const DeviceBuffer<T> data(4096);
  T* const p = data.data();
  const auto run = [&](MatrixView<const T> x, MatrixView<T> y, Variant variant = Variant::automatic,
                       float epsilon = 1) {
    TypeParam::Norm::template run<T>(x, nullptr, nullptr, epsilon, y, nullptr, nullptr, variant,
                                     this->stream_);
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  LaunchRecorder recorder;
  EXPECT_THROW(run({p, {-1, 4}, {4, 1}}, {p, {-1, 4}, {4, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {8, 1}}, {p, {4, 7}, {8, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {7, 1}}, {p, {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {8, 1}}, {p, {4, 8}, {7, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {16, 2}}, {p, {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({nullptr, {4, 8}, {8, 1}}, {p, {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({p, {4, 8}, {8, 1}}, {nullptr, {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({p, {1, 1025}, {1025, 1}}, {p, {1, 1025}, {1025, 1}}, Variant::warp), Error);
  for (const float epsilon : {-1e-5f, kNan, kInfinity})
    EXPECT_THROW(run({p, {4, 8}, {8, 1}}, {p, {4, 8}, {8, 1}}, Variant::automatic, epsilon), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

REGISTER_TYPED_TEST_SUITE_P(NormForward, RandomAgainstOracle, Lengths, RowCounts, ManyRows,
                            EmptyMatrices, LayoutsAndAlignment, OptionalArguments, Scales,
                            SpecialValues, InPlace, SameBitsEveryTime, RowsAreIndependent,
                            WaitsForItsStream, MoreThan2To31Elements, AutomaticReportsWhatRan,
                            RefusesWrongArguments);

} // namespace kg::test
