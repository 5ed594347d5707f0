// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tests that rmsnorm_backward and layernorm_backward share; their own sources instantiate them
// and add what differs. Tolerances and their derivation: tests/oracle/oracle_norm_backward.h.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "tests/normalization_backward_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"

namespace kg::test {

TYPED_TEST_SUITE_P(NormBackward);

// Small integers, factors and lengths that are powers of two: every product, sum, mean and
// difference is exact in f32, in any order, and the result is rounded once. More rows than a GPU of
// the executor's size has warps or blocks, so that each takes several.
TYPED_TEST_P(NormBackward, ExactRows) {
  using T = typename TypeParam::T;
  for (const Size size : {Size{200, 64}, Size{12, 512}, Size{20, 8192}, Size{20, 16384}}) {
    const std::int64_t count = size.rows * size.cols;
    const auto whole = [&](std::int64_t n, std::int64_t most, Tensor tensor) {
      auto values = integers(this->kDtype, n, most, tensor).values;
      for (double& value : values) value = value == 0 ? static_cast<double>(most) : value;
      return values;
    };
    auto in = this->make(size, whole(count, 8, Tensor::a), whole(count, 3, Tensor::b));
    in.gamma = this->stored(whole(size.cols, 3, Tensor::c));
    for (std::size_t r = 0; r < in.rstd.size(); ++r)
      in.rstd[r] = static_cast<float>(std::ldexp(1.0, static_cast<int>(r % 3) - 1));
    for (std::size_t r = 0; r < in.mean.size(); ++r) in.mean[r] = static_cast<float>(r % 5) - 2;
    const NormBackwardOracle right = this->reference(in);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto result = this->run(variant, in);
      const auto exact = [&](const std::string& what, const std::vector<T>& ours,
                             std::vector<std::int64_t> shape, std::vector<double> value) {
        for (double& each : value) each = round_to(this->kDtype, each);
        const Expectation expected{this->kDtype, shape, value, {}};
        if (variant == Variant::naive) { // which runs first
          EXPECT_TRUE(not_vacuous(expected)) << what << ", " << size.cols << " columns";
        }
        EXPECT_TRUE(verdict(compare(observe(ours), expected),
                            this->context(variant, what + " of integers", size, shape)));
      };
      exact("dx", result.dx, {size.rows, size.cols}, right.dx);
      exact("dgamma", result.dgamma, {size.cols}, right.dgamma);
      if (TypeParam::Norm::kCentred) exact("dbeta", result.dbeta, {size.cols}, right.dbeta);
    }
  }
}

TYPED_TEST_P(NormBackward, RandomAgainstOracle) {
  for (const Size size : {Size{65, 96}, Size{33, 500}, Size{9, 1536}, Size{130, 576}, Size{3, 8192},
                          Size{5, this->beyond_block()}})
    this->check("normal", this->normals(size));
}

// Rows that begin at multiples of 16 bytes, whatever their length.
TYPED_TEST_P(NormBackward, Lengths) {
  for (const std::int64_t cols :
       {2,   3,   7,   8,   9,   15,  16,  17,  31,   32,   33,   63,   64,   65,  127,
        128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2049, 8191, 8193}) {
    const std::int64_t fill = (this->kPack - cols % this->kPack) % this->kPack;
    this->check("normal", this->normals({cols > 4000 ? 2 : 3, cols}), {fill, fill, fill});
  }
}

// A row of one element, which layer normalisation makes a constant: without its gradient.
TYPED_TEST_P(NormBackward, RowsOfOneElement) {
  auto in = this->normals({5, 1});
  for (float& rstd : in.rstd) rstd = 0.75f;
  this->check("one column", in, {}, TypeParam::Norm::kCentred ? Degenerate::zero : Degenerate::no);
}

TYPED_TEST_P(NormBackward, RowCounts) {
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 193, 200})
    this->check("normal", this->normals({rows, 24}));
}

// Many for each warp; without the blocks, whose emulation is slow.
TYPED_TEST_P(NormBackward, ManyRows) {
  const auto in = this->normals({4099, 3});
  const NormBackwardOracle right = this->reference(in);
  for (const Variant variant : {Variant::naive, Variant::warp})
    this->check(variant, "normal", in, right, {}, Degenerate::no);
}

// The columns' sums of no rows are 0; rows without elements have none.
TYPED_TEST_P(NormBackward, EmptyMatrices) {
  using T = typename TypeParam::T;
  for (const Size size : {Size{0, 5}, Size{0, 600}, Size{5, 0}, Size{0, 0}})
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto result = this->run(variant, this->normals(size));
      EXPECT_TRUE(result.dx.empty());
      const std::vector<T> zeros(static_cast<std::size_t>(size.cols), from_float<T>(0));
      EXPECT_TRUE(same_bits("dgamma of nothing", result.dgamma, zeros));
      if (TypeParam::Norm::kCentred) {
        EXPECT_TRUE(same_bits("dbeta of nothing", result.dbeta, zeros));
      }
    }
}

// Rows and parameters that are padded, unaligned, or aligned only at their first element.
TYPED_TEST_P(NormBackward, LayoutsAndAlignment) {
  const std::int64_t pack = this->kPack;
  for (const std::int64_t cols : {5 * pack, 20 * pack + 3}) {
    const std::int64_t fill = (pack - cols % pack) % pack; // the gap that aligns every row
    for (const Layout layout :
         {Layout{fill, fill, fill, 0, 0, 0, 0}, Layout{fill + pack, fill, fill, 0, 0, pack, 0},
          Layout{fill, fill + pack, fill, 1, 1, 1, 1}, Layout{fill, fill, fill, 0, 3, 0, 0},
          Layout{fill + 1, fill, fill, 0, 0, 0, 0}, Layout{fill, fill + 1, fill, 2, 0, 0, 0},
          Layout{fill, fill, fill + 2, 0, 0, 7, 0}, Layout{fill, fill, fill, 4, 8, 0, 1},
          Layout{fill, fill, fill, pack, 0, 2, pack}})
      this->check("normal", this->normals({3, cols}), layout);
  }
  for (const Layout layout : {Layout{0, pack, 0, 0, 0, pack, 0}, Layout{1, 0, 0, 0, 0, 0, 3}})
    this->check("normal", this->normals({3, 160 * pack}), layout);
  for (const Layout layout : {Layout{1, 2, 0, 1, 0, 0, 3}, Layout{9, 1, 17, 0, 8, 0, 0}})
    this->check("normal", this->normals({2, this->beyond_block()}), layout);
}

TYPED_TEST_P(NormBackward, OptionalArguments) {
  for (const Size size : {Size{20, 100}, Size{3, 1300}, Size{2, this->beyond_block()}}) {
    auto in = this->normals(size);
    in.gamma.clear();
    this->check("no gamma", in);
    in = this->normals(size);
    in.wants_dbeta = false;
    this->check("no dbeta", in);
    in.wants_dgamma = false;
    this->check("dx alone", in);
    in.wants_dbeta = TypeParam::Norm::kCentred;
    this->check("no dgamma", in);
  }
}

// Statistics far from those of the data: a mean of 1000, whose distance overflows nothing, and
// factors from 2^-20 to 2^20 (f16: 2^4).
TYPED_TEST_P(NormBackward, StatisticsAreTakenAsTheyAre) {
  const int most = this->kDtype == Dtype::f16 ? 4 : 20;
  for (const int exponent : {-most, most}) {
    auto in = this->normals({5, 300});
    for (float& rstd : in.rstd) rstd = std::ldexp(1.0f + 0.125f * rstd, exponent);
    for (float& mean : in.mean) mean += exponent > 0 ? 0.25f : 1000.0f;
    this->check("other statistics", in);
  }
  // Behind the row's end (0 - mean) rstd is infinite; in the row it is not.
  if (!TypeParam::Norm::kCentred || this->kDtype == Dtype::f16) return;
  auto in = this->make({3, 41}, normal(this->kDtype, 123, Tensor::a).values,
                       std::vector<double>(123, 0x1p100));
  for (float& mean : in.mean) mean = 0x1p100f * (1 - 0x1p-23f);
  for (float& rstd : in.rstd) rstd = 0x1p-70f;
  this->check("2^100", in);
  for (float& rstd : in.rstd) rstd = 0x1p30f;
  for (float& mean : in.mean) mean = 0x1p100f;
  for (const Variant variant : kVariants)
    for (const auto& value : this->run(variant, in).dx)
      EXPECT_TRUE(std::isfinite(to_double(value)));
}

// One special value in each place that a thread, a pack or a row could lose; the other rows and
// columns stay as they are.
TYPED_TEST_P(NormBackward, SpecialValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t cols :
       {std::int64_t{5}, std::int64_t{67}, std::int64_t{1051}, this->beyond_block()}) {
    const std::int64_t rows = cols > 4096 ? 4 : 9;
    const auto ordinary = this->normals({rows, cols});
    for (const double special : {kNan, kInfinity, -kInfinity})
      for (const bool in_x : {false, true}) {
        if (cols > 4096 && !std::isnan(special)) continue;
        auto in = ordinary;
        auto& values = in_x ? in.x : in.dy;
        const auto put = [&](std::int64_t row, std::int64_t column) {
          values[static_cast<std::size_t>(row * cols + column)] = this->stored({special})[0];
        };
        put(1, cols - 1);
        if (rows > 4) {
          put(3, 0);
          put(4, 0);
          put(6, cols / 2);
          put(7, cols / 2);
          put(7, cols - 1);
        }
        this->check("special", in);
      }
  }
}

// dx = x and dx = dy.
TYPED_TEST_P(NormBackward, InPlace) {
  using T = typename TypeParam::T;
  using Norm = typename TypeParam::Norm;
  for (const Size size :
       {Size{200, 70}, Size{9, 500}, Size{3, 2048}, Size{2, this->beyond_block()}}) {
    const auto in = this->normals(size);
    const auto gamma = this->upload(in.gamma, this->stream_);
    const auto mean = this->upload(in.mean, this->stream_);
    const auto rstd = this->upload(in.rstd, this->stream_);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto expected = this->run(variant, in);
      for (const bool into_x : {true, false}) {
        const auto x = this->upload(in.x, this->stream_);
        const auto dy = this->upload(in.dy, this->stream_);
        const auto& dx = into_x ? x : dy;
        const DeviceBuffer<T> dgamma(in.gamma.size());
        const DeviceBuffer<unsigned char> workspace(
            Norm::workspace_bytes(variant, size.rows, size.cols));
        Norm::template run<T>(kg::matrix<const T>(dy.data(), size.rows, size.cols),
                              kg::matrix<const T>(x.data(), size.rows, size.cols), gamma.data(),
                              mean.data(), rstd.data(),
                              kg::matrix<T>(dx.data(), size.rows, size.cols), dgamma.data(),
                              nullptr, workspace.data(), variant, this->stream_);
        EXPECT_TRUE(
            same_bits(into_x ? "dx = x" : "dx = dy", dx.to_host(this->stream_), expected.dx))
            << name(variant);
        EXPECT_TRUE(same_bits("dgamma", dgamma.to_host(this->stream_), expected.dgamma))
            << name(variant);
        EXPECT_NO_THROW(dx.check_guards());
      }
    }
  }
}

TYPED_TEST_P(NormBackward, SameBitsEveryTime) {
  static_assert(normalization::backward::deterministic(Variant::automatic));
  for (const Size size : {Size{9, 333}, Size{5, 1500}, Size{2, this->beyond_block()}}) {
    const auto in = this->normals(size);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      EXPECT_TRUE(
          same_bits_every_time(this->id(variant), [&] { return this->run(variant, in).all(); }));
    }
  }
}

// Rows of dx are computed apart: what is in one reaches no other.
TYPED_TEST_P(NormBackward, RowsAreIndependent) {
  for (const Size size : {Size{9, 300}, Size{5, 1300}}) {
    const auto in = this->normals(size);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto dx = this->run(variant, in).dx;
      for (const double special : {std::numeric_limits<double>::quiet_NaN(), 30.0}) {
        auto changed = in;
        changed.dy[static_cast<std::size_t>(4 * size.cols - 1)] = this->stored({special})[0];
        EXPECT_TRUE(only_row_differs(dx, this->run(variant, changed).dx, size.cols, 3))
            << name(variant) << ", " << special;
      }
    }
  }
}

// On a stream whose earlier work still writes dy.
TYPED_TEST_P(NormBackward, WaitsForItsStream) {
  using T = typename TypeParam::T;
  using Norm = typename TypeParam::Norm;
  for (const Size size : {Size{5, 200}, Size{3, 1500}}) {
    auto in = this->normals(size);
    in.gamma.clear();
    const auto x = this->upload(in.x, this->stream_);
    const auto mean = this->upload(in.mean, this->stream_);
    const auto rstd = this->upload(in.rstd, this->stream_);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const DeviceBuffer<T> dx(in.x.size());
      const DeviceBuffer<T> dgamma(static_cast<std::size_t>(size.cols));
      const DeviceBuffer<unsigned char> workspace(
          Norm::workspace_bytes(variant, size.rows, size.cols));
      const LateInput<T> late(in.dy, this->stream_);
      Norm::template run<T>(kg::matrix<const T>(late.data(), size.rows, size.cols),
                            kg::matrix<const T>(x.data(), size.rows, size.cols), nullptr,
                            mean.data(), rstd.data(),
                            kg::matrix<T>(dx.data(), size.rows, size.cols), dgamma.data(), nullptr,
                            workspace.data(), variant, this->stream_);
      const auto right = this->run(variant, in);
      EXPECT_TRUE(same_bits("dx behind a slow kernel", dx.to_host(this->stream_), right.dx));
      EXPECT_TRUE(same_bits("dgamma behind it", dgamma.to_host(this->stream_), right.dgamma));
    }
  }
}

// Indices beyond 32 bits, dx over dy. dy is 0 but in three rows of +2 and -2, whose sums are 0, so
// that dx is rstd dy; n is x / 2 everywhere, so that each row's part of dgamma is +x and -x.
TYPED_TEST_P(NormBackward, MoreThan2To31Elements) {
  using T = typename TypeParam::T;
  using Norm = typename TypeParam::Norm;
  constexpr std::int64_t kCols = 512;
  constexpr std::int64_t kRows = (std::int64_t{1} << 31) / kCols + 3;
  const std::string reason = too_huge_reason(2 * kRows * kCols * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0x3C; // a normal number of each type
  const double filled = to_double(from_raw_bits<T>(0x3C3C3C3Cu & poison_bits(this->kDtype)));
  const auto value = [&](double of) { return this->stored({of})[0]; };
  const auto count = static_cast<std::size_t>(kRows * kCols);
  const auto mean = this->upload(std::vector<float>(kRows, 0.0f), this->stream_);
  const auto rstd = this->upload(std::vector<float>(kRows, 0.5f), this->stream_);
  const DeviceBuffer<T> x(count);
  fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> dy(count);
    fill_bytes(dy.data(), 0, dy.bytes(), this->stream_);
    Marks<T> before, after;
    for (const std::int64_t row : {std::int64_t{0}, kRows - 3, kRows - 1})
      for (std::int64_t i = row * kCols; i < (row + 1) * kCols; ++i) {
        before[i] = value(i % 2 ? -2 : 2);
        after[i] = value(i % 2 ? -1 : 1);
      }
    put(before, dy, this->stream_);
    const DeviceBuffer<T> dgamma(kCols);
    const DeviceBuffer<unsigned char> workspace(Norm::workspace_bytes(variant, kRows, kCols));
    Norm::template run<T>(kg::matrix<const T>(dy.data(), kRows, kCols),
                          kg::matrix<const T>(x.data(), kRows, kCols), nullptr, mean.data(),
                          rstd.data(), kg::matrix<T>(dy.data(), kRows, kCols), dgamma.data(),
                          nullptr, workspace.data(), variant, this->stream_);
    EXPECT_TRUE(holds(dy, value(0), after, this->stream_)) << name(variant);
    const double sum = round_to(this->kDtype, static_cast<float>(3 * filled));
    const auto sums = dgamma.to_host(this->stream_);
    for (std::size_t j = 0; j < sums.size(); ++j)
      EXPECT_EQ(to_double(sums[j]), j % 2 ? -sum : sum) << name(variant) << ", column " << j;
  }
}

TYPED_TEST_P(NormBackward, AutomaticReportsWhatRan) {
  using T = typename TypeParam::T;
  using Norm = typename TypeParam::Norm;
  constexpr std::int64_t kMost = normalization::backward::kWarpMaxCols;
  for (const std::int64_t cols : {kMost, kMost + 1}) {
    const auto in = this->normals({1, cols});
    const auto x = this->upload(in.x, this->stream_);
    const auto rstd = this->upload(std::vector<float>(1, 1.0f), this->stream_);
    LaunchRecorder recorder;
    const Variant ran = Norm::template run<T>(
        kg::matrix<const T>(x.data(), 1, cols), kg::matrix<const T>(x.data(), 1, cols), nullptr,
        rstd.data(), rstd.data(), kg::matrix<T>(x.data(), 1, cols), nullptr, nullptr, nullptr,
        Variant::automatic, this->stream_);
    EXPECT_EQ(ran, cols <= kMost ? Variant::warp : Variant::block);
    this->check_launches(recorder.launches(), {std::string(name(ran)) + "_per_row<>"});
    for (const auto chain : {normalization::backward::row_chain(Variant::automatic, cols) -
                                 normalization::backward::row_chain(ran, cols),
                             normalization::backward::column_chain(Variant::automatic, 9, cols) -
                                 normalization::backward::column_chain(ran, 9, cols)})
      EXPECT_EQ(chain, 0);
  }
}

TYPED_TEST_P(NormBackward, RefusesWrongArguments) {
  using T = typename TypeParam::T;
  using Norm = typename TypeParam::Norm;
  const DeviceBuffer<T> data(4096);
  const DeviceBuffer<float> statistics(64);
  const DeviceBuffer<float> workspace(4096);
  T* const p = data.data();
  const MatrixView<const T> in{p, {4, 8}, {8, 1}};
  const MatrixView<T> out{p, {4, 8}, {8, 1}};
  const float* const s = statistics.data();
  const auto run = [&](MatrixView<const T> dy, MatrixView<const T> x, MatrixView<T> dx,
                       const float* rstd, float* scratch, Variant variant) {
    Norm::template run<T>(dy, x, nullptr, s, rstd, dx, p, nullptr, scratch, variant, this->stream_);
  };
  const auto refused = [&](MatrixView<const T> dy, MatrixView<const T> x, MatrixView<T> dx) {
    EXPECT_THROW(run(dy, x, dx, s, workspace.data(), Variant::automatic), Error);
  };
  LaunchRecorder recorder;
  refused({p, {-1, 8}, {8, 1}}, in, out);
  refused({p, {4, 7}, {8, 1}}, in, out);
  refused(in, {p, {3, 8}, {8, 1}}, out);
  refused(in, in, {p, {4, 7}, {8, 1}});
  refused({p, {4, 8}, {7, 1}}, in, out);
  refused(in, {p, {4, 8}, {7, 1}}, out);
  refused(in, in, {p, {4, 8}, {7, 1}});
  refused(in, {p, {4, 8}, {16, 2}}, out);
  refused({nullptr, {4, 8}, {8, 1}}, in, out);
  refused(in, {nullptr, {4, 8}, {8, 1}}, out);
  refused(in, in, {nullptr, {4, 8}, {8, 1}});
  EXPECT_THROW(run(in, in, out, nullptr, workspace.data(), Variant::naive), Error);
  EXPECT_THROW(run(in, in, out, s, nullptr, Variant::warp), Error);
  EXPECT_THROW(run(in, in, out, s, workspace.data() + 1, Variant::block), Error);
  const MatrixView<const T> wide{p, {1, 513}, {513, 1}};
  EXPECT_THROW(run(wide, wide, {p, {1, 513}, {513, 1}}, s, workspace.data(), Variant::warp), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

REGISTER_TYPED_TEST_SUITE_P(NormBackward, ExactRows, RandomAgainstOracle, Lengths, RowsOfOneElement,
                            RowCounts, ManyRows, EmptyMatrices, LayoutsAndAlignment,
                            OptionalArguments, StatisticsAreTakenAsTheyAre, SpecialValues, InPlace,
                            SameBitsEveryTime, RowsAreIndependent, WaitsForItsStream,
                            MoreThan2To31Elements, AutomaticReportsWhatRan, RefusesWrongArguments);

} // namespace kg::test
