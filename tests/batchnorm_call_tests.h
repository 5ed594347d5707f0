// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Part of batchnorm_test.cu: how batchnorm is called, in place, again and again, on streams, with
// arguments that are wrong or huge.
#pragma once

#include <limits>

#include "tests/batchnorm_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"

namespace kg::test {

// Both layouts in turn.
inline std::vector<Problem> problems(std::initializer_list<Problem> planes,
                                     std::initializer_list<Problem> columns) {
  std::vector<Problem> all = planes;
  for (Problem p : columns) {
    p.layout = Layout::nhwc;
    all.push_back(p);
  }
  return all;
}

TYPED_TEST(BatchNorm, InPlace) {
  using T = TypeParam;
  for (const Problem& p : problems({{3, 4, 49}}, {{20, 24, 5}, {20, 5, 5}})) {
    const auto in = this->normals(p);
    const auto gamma = DeviceBuffer<float>::from_host(in.gamma, this->stream_);
    const auto mean = DeviceBuffer<float>::from_host(in.running_mean, this->stream_);
    const auto variance = DeviceBuffer<float>::from_host(in.running_variance, this->stream_);
    const DeviceBuffer<float> batch_mean(in.gamma.size()), batch_rstd(in.gamma.size());
    auto apart = in;
    apart.beta.clear();
    for (const Variant variant : kVariants)
      for (const Mode mode : kModes) {
        const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
        const DeviceBuffer<unsigned char> workspace(
            batchnorm::workspace_bytes(variant, this->kDtype, p));
        if (mode == Mode::training)
          batchnorm::run_training<T>(p, x.data(), gamma.data(), nullptr, in.epsilon, {}, x.data(),
                                     batch_mean.data(), batch_rstd.data(), workspace.data(),
                                     variant, this->stream_);
        else
          batchnorm::run_inference<T>(p, x.data(), gamma.data(), nullptr, mean.data(),
                                      variance.data(), in.epsilon, x.data(), variant,
                                      this->stream_);
        EXPECT_TRUE(
            same_bits("in place", x.to_host(this->stream_), this->run(mode, variant, apart).y))
            << name(variant);
        EXPECT_NO_THROW(x.check_guards());
      }
  }
}

TYPED_TEST(BatchNorm, SameBitsEveryTime) {
  static_assert(batchnorm::deterministic(Variant::automatic));
  for (const Problem& p : problems({{2, 3, 1500}}, {{7, 40, 30}})) {
    const auto in = this->normals(p);
    for (const Variant variant : kVariants)
      EXPECT_TRUE(same_bits_every_time(this->id(variant),
                                       [&] { return this->run(Mode::training, variant, in).y; }));
  }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(BatchNorm, WaitsForItsStream) {
  using T = TypeParam;
  for (const Problem& p : problems({{3, 4, 49}}, {{20, 24, 5}})) {
    auto in = this->normals(p);
    in.gamma.clear();
    in.beta.clear();
    const DeviceBuffer<float> mean(static_cast<std::size_t>(p.channels));
    const DeviceBuffer<float> rstd(static_cast<std::size_t>(p.channels));
    for (const Variant variant : kVariants) {
      const DeviceBuffer<T> y(in.x.size());
      const DeviceBuffer<unsigned char> workspace(
          batchnorm::workspace_bytes(variant, this->kDtype, p));
      const LateInput<T> late(in.x, this->stream_);
      batchnorm::run_training<T>(p, late.data(), nullptr, nullptr, in.epsilon, {}, y.data(),
                                 mean.data(), rstd.data(), workspace.data(), variant,
                                 this->stream_);
      EXPECT_TRUE(same_bits("behind a slow kernel", y.to_host(this->stream_),
                            this->run(Mode::training, variant, in).y))
          << name(variant);
    }
  }
}

// Indices beyond 32 bits, in place. All is 0 but three channels of +2 and -2: with epsilon 12 those
// give one half.
TYPED_TEST(BatchNorm, MoreThan2To31Elements) {
  using T = TypeParam;
  Problem p{2, std::int64_t{1} << 20, 1026};
  const std::string reason = too_huge_reason(static_cast<std::size_t>(p.elements()) * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto value = [](double of) { return elements<T>(std::vector<double>{of})[0]; };
  const DeviceBuffer<float> mean(static_cast<std::size_t>(p.channels));
  const DeviceBuffer<float> rstd(static_cast<std::size_t>(p.channels));
  for (const Layout layout : {Layout::nchw, Layout::nhwc})
    for (const Variant variant : kVariants) {
      p.layout = layout;
      const DeviceBuffer<T> x(static_cast<std::size_t>(p.elements()));
      fill_bytes(x.data(), 0, x.bytes(), this->stream_);
      const DeviceBuffer<unsigned char> workspace(
          batchnorm::workspace_bytes(variant, this->kDtype, p));
      Marks<T> before, after;
      for (const std::int64_t c : {std::int64_t{0}, p.channels - 3, p.channels - 1})
        for (std::int64_t i = 0; i < p.per_channel(); ++i) {
          const auto at = static_cast<std::int64_t>(place_of(p, c, i));
          before[at] = value(i % 2 ? -2 : 2);
          after[at] = value(i % 2 ? -0.5 : 0.5);
        }
      put(before, x, this->stream_);
      batchnorm::run_training<T>(p, x.data(), nullptr, nullptr, 12, {}, x.data(), mean.data(),
                                 rstd.data(), workspace.data(), variant, this->stream_);
      EXPECT_TRUE(holds(x, value(0), after, this->stream_)) << name(variant) << " " << text(p);
      EXPECT_NO_THROW(x.check_guards());
    }
}

TYPED_TEST(BatchNorm, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const Problem p{2, 3, 8};
  const DeviceBuffer<T> data(48);
  fill_bytes(data.data(), 0, data.bytes(), this->stream_);
  const auto ones = DeviceBuffer<float>::from_host(std::vector<float>(3, 1), this->stream_);
  EXPECT_EQ(batchnorm::run_inference<T>(p, data.data(), nullptr, nullptr, ones.data(), ones.data(),
                                        0, data.data(), Variant::automatic, this->stream_),
            Variant::vectorized);
  EXPECT_EQ(batchnorm::workspace_bytes(Variant::automatic, this->kDtype, p),
            batchnorm::workspace_bytes(Variant::vectorized, this->kDtype, p));
  EXPECT_EQ(batchnorm::chain(Variant::automatic, this->kDtype, p),
            batchnorm::chain(Variant::vectorized, this->kDtype, p));
}

TYPED_TEST(BatchNorm, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(96);
  const DeviceBuffer<float> statistics(16), workspace(64);
  T* const p = data.data();
  float* const s = statistics.data();
  LaunchRecorder recorder;
  const auto train = [&](Problem problem, const T* x, T* y, float epsilon,
                         batchnorm::Running running, float* mean, void* work) {
    EXPECT_THROW(batchnorm::run_training<T>(problem, x, nullptr, nullptr, epsilon, running, y, mean,
                                            s, work, Variant::vectorized, this->stream_),
                 Error);
  };
  const Problem good{2, 3, 8};
  float* const w = workspace.data();
  train({-1, 3, 8}, p, p, 1, {}, s, w);
  train({2, -3, 8}, p, p, 1, {}, s, w);
  train({2, 3, -8}, p, p, 1, {}, s, w);
  train(good, nullptr, p, 1, {}, s, w);
  train(good, p, nullptr, 1, {}, s, w);
  train(good, p, p + 1, 1, {}, s, w);
  train(good, p, p, -1, {}, s, w);
  train(good, p, p, std::numeric_limits<float>::infinity(), {}, s, w);
  train(good, p, p, 1, {s, nullptr}, s, w);
  train(good, p, p, 1, {nullptr, s}, s, w);
  train(good, p, p, 1, {s, s, -0.1f}, s, w);
  train(good, p, p, 1, {s, s, 1.1f}, s, w);
  train(good, p, p, 1, {s, s, std::numeric_limits<float>::quiet_NaN()}, s, w);
  train(good, p, p, 1, {}, nullptr, w);
  train(good, p, p, 1, {}, s, nullptr);
  train(good, p, p, 1, {}, s, w + 1);
  EXPECT_THROW(batchnorm::run_inference<T>(good, p, nullptr, nullptr, s, nullptr, 1, p,
                                           Variant::naive, this->stream_),
               Error);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(BatchNorm, WorkIsOneReadAndOneWrite) {
  const Problem p{4, 5, 10};
  const double both = 400.0 * static_cast<double>(size_of(this->kDtype));
  EXPECT_EQ(batchnorm::inference_work(this->kDtype, p).bytes, both + 80);
  EXPECT_EQ(batchnorm::training_work(this->kDtype, p).bytes, both + 160);
  EXPECT_EQ(batchnorm::inference_work(this->kDtype, p).flops, 600.0);
  EXPECT_EQ(batchnorm::training_work(this->kDtype, p).flops, 1400.0);
}

} // namespace kg::test
