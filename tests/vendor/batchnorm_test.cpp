// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/batchnorm/channels.h"
#include "tests/vendor/data.h"
#include "vendor/batchnorm/batchnorm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kg::vendor {
namespace {

using batchnorm::Layout;
using batchnorm::Problem;

constexpr Problem kProblems[] = {
    {2, 3, 6}, {1, 1, 2}, {4, 16, 10}, {2, 3, 6, Layout::nhwc}, {4, 16, 10, Layout::nhwc}};

TEST(Vendor, BatchnormExistsInF32AndNotInF64) {
  for (const Problem& p : kProblems) {
    EXPECT_FALSE(batchnorm_variants(Dtype::f32, p).empty());
    EXPECT_TRUE(batchnorm_variants(Dtype::f64, p).empty());
  }
}

struct Arguments {
  std::vector<double> x; // channel by channel
  std::vector<float> gamma, beta, mean, deviation;
};

// Channels of m + d and m - d in turn, so that (x - mean) / deviation is 1 or -1; gamma and beta
// are small integers.
Arguments arguments(const Problem& p) {
  Arguments a;
  for (std::int64_t c = 0; c < p.channels; ++c) {
    a.gamma.push_back(small_integer(static_cast<std::size_t>(c)));
    a.beta.push_back(small_integer(static_cast<std::size_t>(c + 5)));
    a.mean.push_back(static_cast<float>(3 * c));
    a.deviation.push_back(std::ldexp(1.0f, static_cast<int>(c % 3)));
    for (std::int64_t i = 0; i < p.per_channel(); ++i)
      a.x.push_back(a.mean.back() + (i % 2 ? -1 : 1) * a.deviation.back());
  }
  return a;
}

TEST(Vendor, BatchnormNormalisesEachChannel) {
  Stream stream;
  for (const Problem& p : kProblems)
    for (const Dtype dtype : kFloats)
      for (const std::string_view variant : batchnorm_variants(dtype, p))
        for (const bool training : {true, false}) {
          SCOPED_TRACE(
              fmt::format("{} {} {} training {}", variant, name(dtype), test::text(p), training));
          const Arguments a = arguments(p);
          const Bytes x = upload(dtype, test::in_layout(a.x, p), stream);
          Bytes y(x.size());
          const auto gamma = DeviceBuffer<float>::from_host(a.gamma, stream);
          const auto beta = DeviceBuffer<float>::from_host(a.beta, stream);
          std::vector<float> variance;
          for (const float deviation : a.deviation) variance.push_back(deviation * deviation);
          const auto mean = training ? DeviceBuffer<float>(a.mean.size())
                                     : DeviceBuffer<float>::from_host(a.mean, stream);
          const auto spread = training ? DeviceBuffer<float>(variance.size())
                                       : DeviceBuffer<float>::from_host(variance, stream);
          const auto run = training ? batchnorm_training : batchnorm_inference;
          run(variant, dtype,
              {p, x.data(), gamma.data(), beta.data(), 0, y.data(), mean.data(), spread.data()},
              stream);
          const auto result = test::by_channel(download(dtype, y, stream), p);
          const auto each = static_cast<std::size_t>(p.per_channel());
          for (std::size_t i = 0; i < result.size(); ++i)
            ASSERT_NEAR(result[i], (i % each % 2 ? -1 : 1) * a.gamma[i / each] + a.beta[i / each],
                        1024 * unit_roundoff(Dtype::f32))
                << i;
          if (!training) continue;
          const auto means = download(mean, stream), spreads = download(spread, stream);
          for (std::size_t c = 0; c < means.size(); ++c) {
            EXPECT_NEAR(means[c], a.mean[c], 1e-5) << c;
            EXPECT_NEAR(spreads[c], 1 / a.deviation[c], 1e-5) << c;
          }
        }
}

TEST(Vendor, BatchnormAddsEpsilonToTheVariance) {
  Stream stream;
  const Problem p{1, 1, 2};
  for (const std::string_view variant : batchnorm_variants(Dtype::f32, p))
    for (const bool training : {true, false}) {
      const auto x = DeviceBuffer<float>::from_host(std::vector<float>{1, -1}, stream);
      const auto one = DeviceBuffer<float>::from_host(std::vector<float>{1}, stream);
      const auto zero = DeviceBuffer<float>::from_host(std::vector<float>{0}, stream);
      const auto mean = DeviceBuffer<float>::from_host(std::vector<float>{0}, stream);
      const auto spread = DeviceBuffer<float>::from_host(std::vector<float>{1}, stream);
      DeviceBuffer<float> y(2);
      const auto run = training ? batchnorm_training : batchnorm_inference;
      run(variant, Dtype::f32,
          {p, x.data(), one.data(), zero.data(), 3, y.data(), mean.data(), spread.data()}, stream);
      EXPECT_NEAR(download(y, stream)[0], 0.5, 1e-6);
    }
}

TEST(Vendor, BatchnormOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : batchnorm_variants(Dtype::f32, kProblems[0])) {
    BatchnormProblem problem{};
    problem.y = problem.mean = out.data();
    for (const Problem& shape : {Problem{0, 3, 5}, Problem{2, 0, 5}, Problem{2, 3, 0}}) {
      problem.shape = shape;
      const auto listed = batchnorm_variants(Dtype::f32, shape);
      if (std::find(listed.begin(), listed.end(), variant) == listed.end()) continue;
      batchnorm_training(variant, Dtype::f32, problem, stream);
      batchnorm_inference(variant, Dtype::f32, problem, stream);
    }
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, BatchnormListsItsVariants) {
  Stream stream;
  const auto known = batchnorm_variants(Dtype::f32, Problem{});
  ASSERT_FALSE(known.empty());
  expect_error([&] { batchnorm_training("cufft", Dtype::f32, {}, stream); },
               "use one of: " + std::string(known.front()));
  BatchnormProblem negative{};
  negative.shape.channels = -1;
  expect_error([&] { batchnorm_inference(known.front(), Dtype::f32, negative, stream); },
               "channels is -1");
}

} // namespace
} // namespace kg::vendor
