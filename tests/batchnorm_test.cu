// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// batchnorm against the oracle and every vendor. Tolerances and their derivation:
// tests/oracle/oracle_batch_norm.h.
#include "tests/batchnorm_call_tests.h"
#include "tests/oracle/vendor_comparison.h"
#include "vendor/batchnorm/batchnorm.h"

#include <bit>
#include <limits>

namespace kg::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The numbers m + d and m - d, as many of each, in the order of Thue and Morse: neighbours, and
// rows any power of two apart, have opposite signs, so that whatever a thread takes together has
// mean m and deviation d, all of it exact; the result is beta +- gamma. Even planes; rows that are
// a multiple of 512.
TYPED_TEST(BatchNorm, ExactTraining) {
  for (const Problem& p :
       problems({{2, 3, 64}, {3, 5, 6}, {1, 2, 8200}}, {{8, 8, 64}, {2, 3, 512}, {16, 40, 32}})) {
    auto in = this->make(p, std::vector<double>(static_cast<std::size_t>(p.elements())));
    std::vector<double> x, expected;
    for (std::size_t c = 0; c < in.gamma.size(); ++c) {
      in.gamma[c] = static_cast<float>(c * 17 % 60) + 1;
      in.beta[c] = static_cast<float>(c * 29 % 61) - 30;
      const double mean = static_cast<double>(c * 23 % 81) - 40;
      const double deviation = std::ldexp(1.0, static_cast<int>(c % 4));
      for (std::int64_t i = 0; i < p.per_channel(); ++i) {
        const double sign = std::popcount(static_cast<std::uint64_t>(i)) % 2 ? -1 : 1;
        x.push_back(mean + sign * deviation);
        expected.push_back(sign * in.gamma[c] + in.beta[c]);
      }
    }
    in.x = elements<TypeParam>(in_layout(x, p));
    in.epsilon = 0;
    this->check_exact(Mode::training, "m + d and m - d", in, in_layout(expected, p));
  }
}

// Integers, and variances that are powers of 4: rounded once, when they are stored.
TYPED_TEST(BatchNorm, ExactInference) {
  for (const Problem& p :
       problems({{2, 3, 64}, {5, 4, 7}, {1, 3, 2100}}, {{3, 8, 50}, {70, 7, 3}, {3, 96, 7}})) {
    auto in = this->make(p, integers(this->kDtype, p.elements(), 64, Tensor::a).values);
    for (std::size_t c = 0; c < in.gamma.size(); ++c) {
      in.gamma[c] = static_cast<float>(c * 17 % 60) + 1;
      in.beta[c] = static_cast<float>(c * 29 % 61) - 30;
      in.running_mean[c] = static_cast<float>(c * 23 % 81) - 40;
      in.running_variance[c] = std::ldexp(1.0f, 2 * static_cast<int>(c % 3));
    }
    in.epsilon = 0;
    auto expected = in_layout(this->reference(Mode::inference, in).y.value, p);
    for (double& value : expected) value = round_to(this->kDtype, value);
    this->check_exact(Mode::inference, "integers", in, expected);
  }
}

// The last ones of each layout give a thread several rounds: a plane of one element is a pack, and
// of channels that are no whole packs a block has fewer rows at once.
TYPED_TEST(BatchNorm, RandomAgainstOracle) {
  for (const Problem& p : problems({{3, 5, 49}, {2, 3, 1023}, {1, 2, 8200}, {1100, 2, 1}},
                                   {{3, 5, 49}, {9, 200, 5}, {2, 35, 100}}))
    for (const Mode mode : kModes) this->check(mode, "normal", this->normals(p));
}

TYPED_TEST(BatchNorm, PlaneSizes) {
  for (const std::int64_t spatial : {1, 2, 3, 5, 7, 8, 9, 17, 33, 257})
    for (const Mode mode : kModes)
      this->check(mode, "normal", this->normals({spatial < 4 ? 37 : 3, 3, spatial}));
}

TYPED_TEST(BatchNorm, ChannelCounts) {
  for (const std::int64_t channels : {1, 3, 4, 6, 8, 9, 12, 31, 33, 64, 264})
    for (const Mode mode : kModes)
      this->check(mode, "normal", this->normals({1, channels, 37, Layout::nhwc}));
  for (const std::int64_t channels : {33, 65})
    this->check(Mode::training, "normal", this->normals({2, channels, 9}));
}

// Around the rows that a block's threads take at once, and around two parts.
TYPED_TEST(BatchNorm, RowCounts) {
  for (const std::int64_t rows : {2, 31, 33, 127, 129, 1025, 2049})
    this->check(Mode::training, "normal", this->normals({rows, this->kPack, 1, Layout::nhwc}));
}

TYPED_TEST(BatchNorm, EmptyTensors) {
  for (const Problem& p : problems({{0, 3, 5}, {2, 0, 5}, {2, 3, 0}}, {{0, 3, 5}, {2, 3, 0}}))
    for (const Mode mode : kModes)
      for (const Variant variant : kVariants) {
        const auto in = this->normals(p);
        const auto result = this->run(mode, variant, in);
        EXPECT_TRUE(result.y.empty());
        for (const float rstd : result.rstd) EXPECT_TRUE(is_poison(rstd));
        if (mode == Mode::inference) continue;
        EXPECT_EQ(result.running_mean, in.running_mean);
        EXPECT_EQ(result.running_variance, in.running_variance);
      }
}

TYPED_TEST(BatchNorm, Alignment) {
  const std::int64_t pack = this->kPack;
  for (const Problem& p : problems({{2, 3, 49}, {2, 3, 8 * pack}}, {{30, 2 * pack, 3}, {9, 11, 4}}))
    for (const Offsets offsets : {Offsets{1, 1, 0}, Offsets{pack - 1, 2 * pack - 1, 1},
                                  Offsets{0, 3, 0}, Offsets{pack, 0, 4}, Offsets{0, 0, 3}})
      for (const Mode mode : kModes) this->check(mode, "normal", this->normals(p), offsets);
}

TYPED_TEST(BatchNorm, OptionalArguments) {
  for (const Problem& p : problems({{3, 3, 50}}, {{5, 16, 9}})) {
    auto in = this->normals(p);
    for (const float momentum : {0.0f, 0.1f, 1.0f}) {
      in.momentum = momentum;
      this->check(Mode::training, "momentum", in);
    }
    const auto gamma = std::exchange(in.gamma, {});
    for (const Mode mode : kModes) this->check(mode, "no gamma", in);
    in.beta.clear();
    for (const Mode mode : kModes) this->check(mode, "no gamma, no beta", in);
    in.gamma = gamma;
    for (const Mode mode : kModes) this->check(mode, "no beta", in);
    in.gamma.clear();
    in.running_mean.clear();
    in.running_variance.clear();
    this->check(Mode::training, "no running statistics", in);
  }
}

// From almost nothing to 2^40 (f16: 2^12), with epsilons that matter and that do not.
TYPED_TEST(BatchNorm, Scales) {
  const bool narrow = this->kDtype == Dtype::f16;
  for (const Problem& p : problems({{2, 3, 70}}, {{5, 8, 28}}))
    for (const float epsilon : {0.0f, 1e-12f, 2.0f})
      for (const int exponent : {narrow ? -6 : -30, narrow ? 12 : 40}) {
        // What epsilon makes so small that a 16-bit type has no digits for it is no case.
        if (narrow && epsilon > 1 && exponent < 0) continue;
        auto x = scaled(normal(this->kDtype, p.elements(), Tensor::a).values, exponent);
        for (double& value : x) value = round_to(this->kDtype, value);
        auto in = this->make(p, x);
        in.epsilon = epsilon;
        this->check(Mode::training, "scaled", in);
      }
}

// A mean of 10,000 deviations (16-bit types: of as many as their digits allow), where
// E[x^2] - mean^2 has lost the variance.
TYPED_TEST(BatchNorm, MeanFarFromZero) {
  const bool wide = this->kDtype == Dtype::f32;
  const double most = wide ? 10000 : 1000;
  const double width = this->kDtype == Dtype::bf16 ? 8 : 1;
  for (const Problem& p : problems({{2, 3, 530}, {1, 1, 9001}}, {{5, 8, 230}, {3, 9, 201}})) {
    std::vector<double> x;
    for (const double value : normal(Dtype::f32, p.elements(), Tensor::a).values)
      x.push_back(round_to(this->kDtype, most + width * value));
    auto in = this->make(p, x);
    this->check(Mode::training, "far from zero", in);
    for (float& mean : in.running_mean) mean += static_cast<float>(most);
    this->check(Mode::inference, "far from zero", in);
  }
}

// A channel of equal elements, and of one: its y is beta as long as epsilon is not 0.
TYPED_TEST(BatchNorm, ZeroVariance) {
  for (const Problem& p :
       problems({{3, 5, 49}, {1, 9, 1}, {1, 3, 8200}}, {{3, 16, 49}, {1, 9, 1}})) {
    std::vector<double> x, expected;
    for (std::int64_t i = 0; i < p.elements(); ++i)
      x.push_back(static_cast<double>(i / p.per_channel() * 3 - 5));
    auto in = this->make(p, x);
    for (std::int64_t i = 0; i < p.elements(); ++i)
      expected.push_back(
          round_to(this->kDtype, in.beta[static_cast<std::size_t>(i / p.per_channel())]));
    this->check_exact(Mode::training, "equal elements", in, in_layout(expected, p));
    const BatchNormOracle right = this->reference(Mode::training, in);
    for (const Variant variant : kVariants)
      this->check_statistics(this->run(Mode::training, variant, in), right, variant, in);
    in.epsilon = 0;
    for (const Variant variant : kVariants)
      for (const TypeParam& y : this->run(Mode::training, variant, in).y)
        ASSERT_TRUE(std::isnan(to_double(y))) << text(p);
  }
}

// One special value in each place that a thread, a pack, a plane or a part could lose; other
// channels stay as they are.
TYPED_TEST(BatchNorm, SpecialValues) {
  for (const Problem& p :
       problems({{3, 5, 49}, {1, 5, 4100}, {30, 5, 1}}, {{5, 24, 9}, {40, 5, 7}, {1, 8, 1030}}))
    for (const double special : {kNan, kInfinity, -kInfinity})
      for (const Mode mode : kModes) {
        if (mode == Mode::inference && special < 0) continue;
        auto x = normal(this->kDtype, p.elements(), Tensor::a).values;
        const auto put = [&](std::int64_t channel, std::int64_t i) {
          x[static_cast<std::size_t>(channel * p.per_channel() + i)] = special;
        };
        put(1, 0);
        put(2, p.per_channel() / 2);
        put(4, p.per_channel() - 1);
        this->check(mode, "special", this->make(p, x));
      }
}

// Means whose distance has no square in f32: as the header says, and other channels do not change.
TYPED_TEST(BatchNorm, SquaresBeyondTheRangeOfF32) {
  if (std::isinf(round_to(this->kDtype, 0x1p70))) GTEST_SKIP() << "no f16 number is so large";
  for (const Problem& p : problems({{3, 3, 50}}, {{10, 8, 8}})) {
    auto in = this->normals(p);
    auto x = by_channel(observe(in.x).values, p);
    for (std::int64_t i = 0; i < p.per_channel(); ++i)
      x[static_cast<std::size_t>(i + p.per_channel())] = i % 2 ? 0x1p70 : -0x1p70;
    in.x = elements<TypeParam>(in_layout(x, p));
    for (const Variant variant : kVariants) {
      const auto y = by_channel(observe(this->run(Mode::training, variant, in).y).values, p);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const auto c = i / static_cast<std::size_t>(p.per_channel());
        if (c == 1)
          EXPECT_EQ(y[i], round_to(this->kDtype, in.beta[c]));
        else
          EXPECT_TRUE(std::isfinite(y[i]));
      }
    }
  }
}

TYPED_TEST(BatchNorm, RandomAgainstVendors) {
  using T = TypeParam;
  const double u = unit_roundoff(Dtype::f32);
  for (const Problem& p : problems({{4, 5, 77}, {2, 3, 1024}}, {{4, 16, 77}, {3, 70, 30}})) {
    const auto vendors = vendor::batchnorm_variants(this->kDtype, p);
    if (vendors.empty()) report_no_vendor("batchnorm", this->kDtype, text(p));
    const auto in = this->normals(p);
    for (const Mode mode : kModes) {
      const NormOracle oracle = this->reference(mode, in).y;
      const std::vector<double> expected_y = in_layout(oracle.value, p);
      // A library may add a channel up one by one, and fold the mean into beta.
      const std::vector<double> vendor_tolerance =
          in_layout(batch_norm_tolerances(oracle, this->kDtype, p.per_channel()), p);
      // What an element is conditioned on; see layer_norm_f32_tolerance.
      std::vector<double> unit;
      for (std::size_t i = 0; i < oracle.value.size(); ++i)
        unit.push_back(
            u * ((std::fabs(oracle.normalized[i]) + 1 + oracle.skew[i]) * oracle.gamma[i] +
                 oracle.beta[i]) +
            (this->kDtype == Dtype::f32
                 ? 0
                 : unit_roundoff(this->kDtype) * std::fabs(oracle.value[i])));
      unit = in_layout(unit, p);
      for (const Variant variant : kVariants) {
        const auto tolerance = this->tolerances(mode, variant, oracle, p);
        Expectation expected{this->kDtype, shape_of(p), expected_y, tolerance};
        // naive adds a channel up one by one: within its bound, though no library is so inaccurate.
        if (variant != Variant::naive) expected.unit = {unit.data(), unit.size()};
        const Observed ours = observe(this->run(mode, variant, in).y); // before the vendor's
        for (const std::string_view vendor : vendors) {
          const auto upload = [&](const std::vector<float>& values) {
            return DeviceBuffer<float>::from_host(values, this->stream_);
          };
          const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
          const auto gamma = upload(in.gamma), beta = upload(in.beta);
          const auto mean = upload(in.running_mean), spread = upload(in.running_variance);
          const DeviceBuffer<T> y(in.x.size());
          const auto run =
              mode == Mode::training ? vendor::batchnorm_training : vendor::batchnorm_inference;
          run(vendor, this->kDtype,
              {p, x.data(), gamma.data(), beta.data(), in.epsilon, y.data(), mean.data(),
               spread.data()},
              this->stream_);
          const Observed theirs = observe(y.to_host(this->stream_));
          EXPECT_TRUE(
              verdict(compare_with_vendor(ours, theirs, expected, vendor_tolerance),
                      this->context(mode, variant, "normal beside " + std::string(vendor), p)));
        }
      }
    }
  }
}

} // namespace
} // namespace kg::test
