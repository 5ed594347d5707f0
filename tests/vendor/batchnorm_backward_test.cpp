// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/batchnorm/channels.h"
#include "tests/oracle/oracle_batch_norm_backward.h"
#include "tests/vendor/data.h"
#include "vendor/batchnorm_backward/batchnorm_backward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kg::vendor {
namespace {

using batchnorm::Layout;
using batchnorm::Problem;

constexpr Problem kProblems[] = {
    {2, 3, 6}, {1, 1, 2}, {4, 16, 10}, {2, 3, 6, Layout::nhwc}, {4, 16, 10, Layout::nhwc}};

TEST(Vendor, BatchnormBackwardExistsInF32AndNotInF64) {
  for (const Problem& p : kProblems) {
    EXPECT_FALSE(batchnorm_backward_variants(Dtype::f32, p).empty());
    EXPECT_TRUE(batchnorm_backward_variants(Dtype::f64, p).empty());
  }
}

// Statistics that are not those of x: mean c, rstd 2^-(c mod 3).
TEST(Vendor, BatchnormBackwardTakesItsArguments) {
  Stream stream;
  for (const Problem& p : kProblems)
    for (const Dtype dtype : kFloats)
      for (const std::string_view variant : batchnorm_backward_variants(dtype, p)) {
        SCOPED_TRACE(fmt::format("{} {} {}", variant, name(dtype), test::text(p)));
        std::vector<double> dy, x; // channel by channel
        for (std::size_t i = 0; i < static_cast<std::size_t>(p.elements()); ++i) {
          dy.push_back(small_integer(i));
          x.push_back(small_integer(7 * i + 1));
        }
        std::vector<float> gamma, mean, rstd;
        for (std::int64_t c = 0; c < p.channels; ++c) {
          gamma.push_back(small_integer(static_cast<std::size_t>(c + 3)));
          mean.push_back(static_cast<float>(c));
          rstd.push_back(std::ldexp(1.0f, -static_cast<int>(c % 3)));
        }
        const auto wide = [](const std::vector<float>& of) {
          return std::vector<double>(of.begin(), of.end());
        };
        const auto right =
            test::batch_norm_backward_oracle(dy, x, wide(gamma), wide(mean), wide(rstd));
        const Bytes device_dy = upload(dtype, test::in_layout(dy, p), stream);
        const Bytes device_x = upload(dtype, test::in_layout(x, p), stream);
        const auto device_gamma = DeviceBuffer<float>::from_host(gamma, stream);
        const auto device_mean = DeviceBuffer<float>::from_host(mean, stream);
        const auto device_rstd = DeviceBuffer<float>::from_host(rstd, stream);
        Bytes dx(device_x.size());
        DeviceBuffer<float> dgamma(gamma.size()), dbeta(gamma.size());
        batchnorm_backward(variant, dtype,
                           {p, device_dy.data(), device_x.data(), device_gamma.data(),
                            device_mean.data(), device_rstd.data(), dx.data(), dgamma.data(),
                            dbeta.data()},
                           stream);
        const auto ours = test::by_channel(download(dtype, dx, stream), p);
        for (std::size_t i = 0; i < ours.size(); ++i)
          ASSERT_NEAR(ours[i], right.dx[i],
                      64 * unit_roundoff(dtype) * (1 + std::fabs(right.dx[i])))
              << i;
        const auto by_gamma = download(dgamma, stream), by_beta = download(dbeta, stream);
        for (std::size_t c = 0; c < by_gamma.size(); ++c) {
          EXPECT_NEAR(by_gamma[c], right.dgamma[c], 1e-5 * (1 + right.dgamma_abs[c])) << c;
          EXPECT_NEAR(by_beta[c], right.dbeta[c], 1e-5 * (1 + right.dbeta_abs[c])) << c;
        }
      }
}

TEST(Vendor, BatchnormBackwardOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : batchnorm_backward_variants(Dtype::f32, kProblems[0])) {
    BatchnormBackwardProblem problem{};
    problem.dx = out.data();
    for (const Problem& shape : {Problem{0, 3, 5}, Problem{2, 0, 5}, Problem{2, 3, 0}}) {
      problem.shape = shape;
      const auto listed = batchnorm_backward_variants(Dtype::f32, shape);
      if (std::find(listed.begin(), listed.end(), variant) != listed.end())
        batchnorm_backward(variant, Dtype::f32, problem, stream);
    }
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, BatchnormBackwardListsItsVariants) {
  Stream stream;
  const auto known = batchnorm_backward_variants(Dtype::f32, Problem{});
  ASSERT_FALSE(known.empty());
  expect_error([&] { batchnorm_backward("cufft", Dtype::f32, {}, stream); },
               "use one of: " + std::string(known.front()));
}

} // namespace
} // namespace kg::vendor
