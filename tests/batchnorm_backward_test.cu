// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// batchnorm_backward against the oracle and every vendor. Tolerances and their derivation:
// tests/oracle/oracle_norm_backward.h.
#include "tests/batchnorm_backward_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/batchnorm_backward/batchnorm_backward.h"

#include <limits>

namespace kg::test {
namespace {

// Both layouts in turn.
std::vector<Problem> problems(std::initializer_list<Problem> planes,
                              std::initializer_list<Problem> columns) {
  std::vector<Problem> all = planes;
  for (Problem p : columns) {
    p.layout = Layout::nhwc;
    all.push_back(p);
  }
  return all;
}

// Small integers, and factors and sizes of channels that are powers of two: every product, sum,
// mean and difference is exact in f32, in any order, and dx is rounded once.
TYPED_TEST(BatchNormBackward, Exact) {
  for (const Problem& p :
       problems({{2, 3, 64}, {16, 5, 8}, {1, 2, 8192}}, {{8, 8, 64}, {2, 3, 512}, {16, 40, 32}})) {
    const auto whole = [&](std::int64_t most, Tensor tensor) {
      auto values = integers(this->kDtype, p.elements(), most, tensor).values;
      for (double& value : values) value = value == 0 ? static_cast<double>(most) : value;
      return values;
    };
    auto in = this->make(p, whole(8, Tensor::a), whole(3, Tensor::b));
    for (std::size_t c = 0; c < in.gamma.size(); ++c) {
      in.gamma[c] = static_cast<float>(c % 3) + 1;
      in.mean[c] = static_cast<float>(c % 5) - 2;
    }
    const NormBackwardOracle right = this->reference(in);
    auto dx = in_layout(right.dx, p);
    for (double& value : dx) value = round_to(this->kDtype, value);
    for (const Variant variant : kVariants) {
      const auto result = this->run(variant, in);
      const auto exact = [&](const std::string& what, const Observed& ours, Dtype dtype,
                             std::vector<std::int64_t> shape, const std::vector<double>& value) {
        const Expectation expected{dtype, shape, value, {}};
        EXPECT_TRUE(not_vacuous(expected)) << what << ", " << text(p);
        EXPECT_TRUE(verdict(compare(ours, expected),
                            this->context(variant, what + " of integers", p, shape)));
      };
      exact("dx", observe(result.dx), this->kDtype, shape_of(p), dx);
      exact("dgamma", observe(result.dgamma), Dtype::f32, {p.channels}, right.dgamma);
      exact("dbeta", observe(result.dbeta), Dtype::f32, {p.channels}, right.dbeta);
    }
  }
}

// The last ones of each layout give a thread several rounds: a plane of one element is a pack, and
// of channels that are no whole packs a block has fewer rows at once.
TYPED_TEST(BatchNormBackward, RandomAgainstOracle) {
  for (const Problem& p : problems({{3, 5, 49}, {2, 3, 1023}, {1, 2, 8200}, {1100, 2, 1}},
                                   {{3, 5, 49}, {9, 200, 5}, {2, 35, 100}}))
    this->check("normal", this->normals(p));
}

TYPED_TEST(BatchNormBackward, PlaneSizes) {
  for (const std::int64_t spatial : {1, 2, 3, 5, 7, 8, 9, 15, 17, 33, 65, 257})
    this->check("normal", this->normals({spatial < 4 ? 37 : 3, 3, spatial}));
}

TYPED_TEST(BatchNormBackward, ChannelCounts) {
  for (const std::int64_t channels : {1, 2, 3, 6, 7, 8, 9, 12, 31, 32, 33, 64, 129, 264})
    this->check("normal", this->normals({1, channels, 37, Layout::nhwc}));
}

// Around the rows that a block's threads take at once, and around two parts.
TYPED_TEST(BatchNormBackward, RowCounts) {
  for (const std::int64_t rows : {2, 31, 32, 33, 127, 129, 1023, 1025, 2049})
    this->check("normal", this->normals({rows, this->kPack, 1, Layout::nhwc}));
}

// The sums of nothing are 0.
TYPED_TEST(BatchNormBackward, EmptyTensors) {
  for (const Problem& p : problems({{0, 3, 5}, {2, 0, 5}, {2, 3, 0}}, {{0, 3, 5}, {2, 3, 0}}))
    for (const Variant variant : kVariants) {
      const auto result = this->run(variant, this->normals(p));
      const std::vector<float> zeros(static_cast<std::size_t>(p.channels), 0.0f);
      EXPECT_TRUE(result.dx.empty());
      EXPECT_EQ(result.dgamma, zeros);
      EXPECT_EQ(result.dbeta, zeros);
    }
}

TYPED_TEST(BatchNormBackward, Alignment) {
  const std::int64_t pack = this->kPack;
  for (const Problem& p : problems({{2, 3, 49}, {2, 3, 8 * pack}}, {{30, 2 * pack, 3}, {9, 11, 4}}))
    for (const Offsets offsets :
         {Offsets{1, 1, 1, 0}, Offsets{pack - 1, 2 * pack - 1, pack - 1, 1}, Offsets{0, 0, 3, 0},
          Offsets{0, 1, 0, 0}, Offsets{pack, 0, 2 * pack, 4}, Offsets{0, 0, 0, 3},
          Offsets{2, 0, 0, 0}})
      this->check("normal", this->normals(p), offsets);
}

TYPED_TEST(BatchNormBackward, WithoutGamma) {
  for (const Problem& p : problems({{3, 3, 50}}, {{5, 16, 9}})) {
    auto in = this->normals(p);
    in.gamma.clear();
    this->check("no gamma", in);
  }
}

// A mean of 1000, and factors from 2^-20 to 2^20 (f16: 2^4).
TYPED_TEST(BatchNormBackward, StatisticsAreTakenAsTheyAre) {
  const int most = this->kDtype == Dtype::f16 ? 4 : 20;
  for (const Problem& p : problems({{2, 3, 150}}, {{5, 8, 60}}))
    for (const int exponent : {-most, most}) {
      auto in = this->normals(p);
      for (float& rstd : in.rstd) rstd = std::ldexp(1.0f + 0.125f * rstd, exponent);
      for (float& mean : in.mean) mean += exponent > 0 ? 0.25f : 1000.0f;
      this->check("other statistics", in);
    }
}

// One special value in each place that a thread, a pack, a plane or a part could lose; other
// channels stay as they are.
TYPED_TEST(BatchNormBackward, SpecialValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Problem& p : problems({{3, 5, 49}, {1, 5, 4100}}, {{5, 24, 9}, {40, 5, 7}}))
    for (const double special : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity})
      for (const bool in_x : {false, true}) {
        auto dy = normal(this->kDtype, p.elements(), Tensor::a).values;
        auto x = normal(this->kDtype, p.elements(), Tensor::b).values;
        const auto put = [&](std::int64_t channel, std::int64_t i) {
          (in_x ? x : dy)[static_cast<std::size_t>(channel * p.per_channel() + i)] = special;
        };
        put(1, 0);
        put(2, p.per_channel() / 2);
        put(4, p.per_channel() - 1);
        this->check("special", this->make(p, dy, x));
      }
}

// dx = x and dx = dy.
TYPED_TEST(BatchNormBackward, InPlace) {
  using T = TypeParam;
  for (const Problem& p : problems({{3, 4, 49}}, {{20, 24, 5}, {20, 5, 5}})) {
    const auto in = this->normals(p);
    const auto upload = [&](const std::vector<float>& values) {
      return DeviceBuffer<float>::from_host(values, this->stream_);
    };
    const auto gamma = upload(in.gamma), mean = upload(in.mean), rstd = upload(in.rstd);
    const DeviceBuffer<float> dgamma(in.gamma.size()), dbeta(in.gamma.size());
    for (const Variant variant : kVariants)
      for (const bool into_x : {true, false}) {
        const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
        const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
        const auto& dx = into_x ? x : dy;
        const DeviceBuffer<unsigned char> workspace(
            batchnorm_backward::workspace_bytes(variant, this->kDtype, p));
        batchnorm_backward::run<T>(p, dy.data(), x.data(), gamma.data(), mean.data(), rstd.data(),
                                   dx.data(), dgamma.data(), dbeta.data(), workspace.data(),
                                   variant, this->stream_);
        EXPECT_TRUE(same_bits(into_x ? "dx = x" : "dx = dy", dx.to_host(this->stream_),
                              this->run(variant, in).dx))
            << name(variant);
        EXPECT_NO_THROW(dx.check_guards());
      }
  }
}

TYPED_TEST(BatchNormBackward, SameBitsEveryTime) {
  for (const Problem& p : problems({{2, 3, 1500}}, {{7, 40, 30}})) {
    const auto in = this->normals(p);
    for (const Variant variant : kVariants)
      EXPECT_TRUE(
          same_bits_every_time(this->id(variant), [&] { return this->run(variant, in).dx; }));
  }
}

// On a stream whose earlier work still writes dy.
TYPED_TEST(BatchNormBackward, WaitsForItsStream) {
  using T = TypeParam;
  for (const Problem& p : problems({{3, 4, 49}}, {{20, 24, 5}})) {
    auto in = this->normals(p);
    in.gamma.clear();
    const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
    const auto mean = DeviceBuffer<float>::from_host(in.mean, this->stream_);
    const auto rstd = DeviceBuffer<float>::from_host(in.rstd, this->stream_);
    const DeviceBuffer<float> dgamma(in.mean.size()), dbeta(in.mean.size());
    for (const Variant variant : kVariants) {
      const DeviceBuffer<T> dx(in.x.size());
      const DeviceBuffer<unsigned char> workspace(
          batchnorm_backward::workspace_bytes(variant, this->kDtype, p));
      const LateInput<T> late(in.dy, this->stream_);
      batchnorm_backward::run<T>(p, late.data(), x.data(), nullptr, mean.data(), rstd.data(),
                                 dx.data(), dgamma.data(), dbeta.data(), workspace.data(), variant,
                                 this->stream_);
      EXPECT_TRUE(
          same_bits("behind a slow kernel", dx.to_host(this->stream_), this->run(variant, in).dx))
          << name(variant);
    }
  }
}

// Indices beyond 32 bits, dx over dy. dy is 0 but in three channels of +2 and -2 beside an x of 0,
// whose sums are 0, so that dx is rstd dy.
TYPED_TEST(BatchNormBackward, MoreThan2To31Elements) {
  using T = TypeParam;
  Problem p{2, std::int64_t{1} << 20, 1026};
  const std::string reason =
      too_huge_reason(2 * static_cast<std::size_t>(p.elements()) * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto channels = static_cast<std::size_t>(p.channels);
  const auto count = static_cast<std::size_t>(p.elements());
  const auto value = [](double of) { return elements<T>(std::vector<double>{of})[0]; };
  const auto mean = DeviceBuffer<float>::from_host(std::vector<float>(channels), this->stream_);
  const auto rstd =
      DeviceBuffer<float>::from_host(std::vector<float>(channels, 0.5f), this->stream_);
  const DeviceBuffer<float> dgamma(channels), dbeta(channels);
  const DeviceBuffer<T> x(count);
  fill_bytes(x.data(), 0, x.bytes(), this->stream_);
  for (const Layout layout : {Layout::nchw, Layout::nhwc})
    for (const Variant variant : kVariants) {
      p.layout = layout;
      const DeviceBuffer<T> dy(count);
      fill_bytes(dy.data(), 0, dy.bytes(), this->stream_);
      const DeviceBuffer<unsigned char> workspace(
          batchnorm_backward::workspace_bytes(variant, this->kDtype, p));
      Marks<T> before, after;
      for (const std::int64_t c : {std::int64_t{0}, p.channels - 3, p.channels - 1})
        for (std::int64_t i = 0; i < p.per_channel(); ++i) {
          const auto at = static_cast<std::int64_t>(place_of(p, c, i));
          before[at] = value(i % 2 ? -2 : 2);
          after[at] = value(i % 2 ? -1 : 1);
        }
      put(before, dy, this->stream_);
      batchnorm_backward::run<T>(p, dy.data(), x.data(), nullptr, mean.data(), rstd.data(),
                                 dy.data(), dgamma.data(), dbeta.data(), workspace.data(), variant,
                                 this->stream_);
      EXPECT_TRUE(holds(dy, value(0), after, this->stream_)) << name(variant) << " " << text(p);
      EXPECT_NO_THROW(dy.check_guards());
    }
}

TYPED_TEST(BatchNormBackward, RandomAgainstVendors) {
  using T = TypeParam;
  const double u = unit_roundoff(Dtype::f32);
  for (const Problem& p : problems({{4, 5, 77}, {2, 3, 1024}}, {{4, 16, 77}, {3, 70, 30}})) {
    const auto vendors = vendor::batchnorm_backward_variants(this->kDtype, p);
    if (vendors.empty()) report_no_vendor("batchnorm_backward", this->kDtype, text(p));
    const auto in = this->normals(p);
    const NormBackwardOracle oracle = this->reference(in);
    const std::vector<double> right_dx = in_layout(oracle.dx, p);
    // What an element is conditioned on; see norm_backward_dx_f32_tolerance.
    std::vector<double> unit;
    for (std::size_t i = 0; i < oracle.dx.size(); ++i)
      unit.push_back(
          u * (oracle.direct[i] + oracle.average[i] + oracle.projection[i]) +
          (this->kDtype == Dtype::f32 ? 0 : unit_roundoff(this->kDtype) * std::fabs(oracle.dx[i])));
    unit = in_layout(unit, p);
    for (const Variant variant : kVariants) {
      const auto ours = this->run(variant, in); // before the vendor writes the same values
      const std::int64_t chain = batchnorm_backward::chain(variant, this->kDtype, p);
      for (const std::string_view vendor : vendors) {
        const auto upload = [&](const std::vector<float>& values) {
          return DeviceBuffer<float>::from_host(values, this->stream_);
        };
        const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
        const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
        const auto gamma = upload(in.gamma), mean = upload(in.mean), rstd = upload(in.rstd);
        const DeviceBuffer<T> dx(in.x.size());
        const DeviceBuffer<float> dgamma(in.gamma.size()), dbeta(in.gamma.size());
        vendor::batchnorm_backward(vendor, this->kDtype,
                                   {p, dy.data(), x.data(), gamma.data(), mean.data(), rstd.data(),
                                    dx.data(), dgamma.data(), dbeta.data()},
                                   this->stream_);
        const auto compared = [&](const std::string& what, const Observed& our_values,
                                  const Observed& theirs, const Expectation& expected,
                                  const std::vector<double>& vendor_tolerance) {
          EXPECT_TRUE(verdict(
              compare_with_vendor(our_values, theirs, expected, vendor_tolerance),
              this->context(variant, what + " beside " + std::string(vendor), p, expected.shape)));
        };
        // A library may add one by one.
        const auto tolerance =
            in_layout(norm_backward_dx_tolerances(oracle, this->kDtype, chain), p);
        Expectation expected{this->kDtype, shape_of(p), right_dx, tolerance};
        if (variant != Variant::naive) expected.unit = {unit.data(), unit.size()};
        compared("dx", observe(ours.dx), observe(dx.to_host(this->stream_)), expected,
                 in_layout(norm_backward_dx_tolerances(oracle, this->kDtype, p.per_channel()), p));
        const auto sums = [&](const std::string& what, const std::vector<float>& values,
                              const DeviceBuffer<float>& theirs, const std::vector<double>& right,
                              const std::vector<double>& right_abs) {
          const auto bound = norm_backward_column_tolerances(right, right_abs, Dtype::f32, chain);
          compared(what, observe(values), observe(theirs.to_host(this->stream_)),
                   {Dtype::f32, {p.channels}, right, bound},
                   norm_backward_column_tolerances(right, right_abs, Dtype::f32, p.per_channel()));
        };
        sums("dgamma", ours.dgamma, dgamma, oracle.dgamma, oracle.dgamma_abs);
        sums("dbeta", ours.dbeta, dbeta, oracle.dbeta, oracle.dbeta_abs);
      }
    }
  }
}

TYPED_TEST(BatchNormBackward, AutomaticIsVectorized) {
  const Problem p{2, 3, 8};
  EXPECT_EQ(batchnorm_backward::resolved(Variant::automatic), Variant::vectorized);
  EXPECT_EQ(batchnorm_backward::workspace_bytes(Variant::automatic, this->kDtype, p),
            batchnorm_backward::workspace_bytes(Variant::vectorized, this->kDtype, p));
  EXPECT_EQ(batchnorm_backward::chain(Variant::automatic, this->kDtype, p),
            batchnorm_backward::chain(Variant::vectorized, this->kDtype, p));
}

TYPED_TEST(BatchNormBackward, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(96);
  const DeviceBuffer<float> statistics(16), workspace(64);
  T* const p = data.data();
  float* const s = statistics.data();
  float* const w = workspace.data();
  LaunchRecorder recorder;
  const auto refused = [&](Problem problem, const T* dy, const T* x, const float* mean,
                           const float* rstd, T* dx, float* dgamma, float* dbeta, void* work) {
    EXPECT_THROW(batchnorm_backward::run<T>(problem, dy, x, nullptr, mean, rstd, dx, dgamma, dbeta,
                                            work, Variant::vectorized, this->stream_),
                 Error);
  };
  const Problem good{2, 3, 8};
  refused({-1, 3, 8}, p, p, s, s, p, s, s, w);
  refused({2, -3, 8}, p, p, s, s, p, s, s, w);
  refused({2, 3, -8}, p, p, s, s, p, s, s, w);
  refused(good, nullptr, p, s, s, p, s, s, w);
  refused(good, p, nullptr, s, s, p, s, s, w);
  refused(good, p, p, nullptr, s, p, s, s, w);
  refused(good, p, p, s, nullptr, p, s, s, w);
  refused(good, p, p, s, s, nullptr, s, s, w);
  refused(good, p, p, s, s, p, nullptr, s, w);
  refused(good, p, p, s, s, p, s, nullptr, w);
  refused(good, p, p, s, s, p, s, s, nullptr);
  refused(good, p, p, s, s, p, s, s, w + 1);
  refused(good, p, p + 1, s, s, p, s, s, w);
  refused(good, p + 1, p, s, s, p, s, s, w);
  refused({0, 3, 8}, p, p, s, s, p, nullptr, s, w);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(BatchNormBackward, WorkIsTwoReadsAndOneWrite) {
  const Work work = batchnorm_backward::work(this->kDtype, {4, 5, 10});
  EXPECT_EQ(work.bytes, 600.0 * static_cast<double>(size_of(this->kDtype)) + 100);
  EXPECT_EQ(work.flops, 2200.0);
}

} // namespace
} // namespace kg::test
