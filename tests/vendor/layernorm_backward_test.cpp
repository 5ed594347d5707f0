// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/vendor_runs.h"
#include "tests/vendor/data.h"
#include "vendor/layernorm_backward/layernorm_backward.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

TEST(Vendor, LayernormBackwardExistsInF32AndNotInF64) {
  EXPECT_FALSE(layernorm_backward_variants(Dtype::f32).empty());
  EXPECT_TRUE(layernorm_backward_variants(Dtype::f64).empty());
}

// The formulas of layernorm_backward.h, with statistics that are not those of x: mean i, 1 /
// sqrt(variance + 1) = 2^-i.
TEST(Vendor, LayernormBackwardTakesItsArguments) {
  Stream stream;
  constexpr std::size_t kRows = 4;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : layernorm_backward_variants(dtype))
      for (const std::size_t cols : {2u, 6u, 70u}) {
        SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), cols));
        std::vector<double> dy, x, gamma, dx, dgamma(cols), dbeta(cols);
        std::vector<float> mean, variance, rstds;
        for (std::size_t j = 0; j < cols; ++j) gamma.push_back(small_integer(j + 3));
        for (std::size_t i = 0; i < kRows * cols; ++i) {
          dy.push_back(small_integer(i));
          x.push_back(small_integer(7 * i + 1));
        }
        for (std::size_t i = 0; i < kRows; ++i) {
          mean.push_back(static_cast<float>(i));
          variance.push_back(std::ldexp(1.0f, 2 * static_cast<int>(i)) - 1);
          const double rstd = std::ldexp(1.0, -static_cast<int>(i));
          rstds.push_back(static_cast<float>(rstd));
          const auto n = [&](std::size_t j) { return (x[i * cols + j] - mean[i]) * rstd; };
          const auto g = [&](std::size_t j) { return dy[i * cols + j] * gamma[j]; };
          double sum = 0, dot = 0;
          for (std::size_t j = 0; j < cols; ++j) {
            sum += g(j) / static_cast<double>(cols);
            dot += g(j) * n(j) / static_cast<double>(cols);
            dgamma[j] += dy[i * cols + j] * n(j);
            dbeta[j] += dy[i * cols + j];
          }
          for (std::size_t j = 0; j < cols; ++j) dx.push_back(rstd * (g(j) - sum - n(j) * dot));
        }
        const Bytes device_dy = upload(dtype, dy, stream);
        const Bytes device_x = upload(dtype, x, stream);
        const Bytes device_gamma = upload(dtype, gamma, stream);
        const auto device_mean = DeviceBuffer<float>::from_host(mean, stream);
        const auto device_variance = DeviceBuffer<float>::from_host(variance, stream);
        const auto device_rstd = DeviceBuffer<float>::from_host(rstds, stream);
        Bytes device_dx(device_x.size());
        const Dtype sums = layernorm_backward_sums(variant, dtype);
        Bytes device_dgamma(cols * size_of(sums));
        Bytes device_dbeta(cols * size_of(sums));
        if (!test::vendor_runs([&] {
              layernorm_backward(variant, dtype,
                                 {device_dy.data(), device_x.data(), device_gamma.data(),
                                  device_mean.data(), device_variance.data(), 1, device_rstd.data(),
                                  device_dx.data(), device_dgamma.data(), device_dbeta.data(),
                                  kRows, static_cast<std::int64_t>(cols)},
                                 stream);
            }))
          continue;
        const std::vector<double> ours = download(dtype, device_dx, stream);
        for (std::size_t i = 0; i < dx.size(); ++i)
          ASSERT_NEAR(ours[i], dx[i], 64 * unit_roundoff(dtype) * (1 + std::fabs(dx[i]))) << i;
        const auto by_gamma = download(sums, device_dgamma, stream);
        const auto by_beta = download(sums, device_dbeta, stream);
        for (std::size_t j = 0; j < cols; ++j) {
          const auto near = [&](double exact) {
            return 1e-5 + 2 * unit_roundoff(sums) * std::fabs(exact);
          };
          EXPECT_NEAR(by_gamma[j], dgamma[j], near(dgamma[j])) << j;
          EXPECT_NEAR(by_beta[j], dbeta[j], near(dbeta[j])) << j;
        }
      }
}

TEST(Vendor, LayernormBackwardOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : layernorm_backward_variants(Dtype::f32)) {
    LayernormBackwardProblem problem{};
    problem.dx = out.data();
    problem.cols = 5;
    layernorm_backward(variant, Dtype::f32, problem, stream);
    problem.rows = 5;
    problem.cols = 0;
    layernorm_backward(variant, Dtype::f32, problem, stream);
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, LayernormBackwardListsItsVariants) {
  Stream stream;
  const auto known = layernorm_backward_variants(Dtype::f32);
  expect_error([&] { layernorm_backward("cufft", Dtype::f32, {}, stream); },
               "use one of: " + std::string(known.empty() ? "(none)" : known.front()));
  expect_error([&] { layernorm_backward("onednn", Dtype::i32, {}, stream); },
               "layernorm_backward(i32): there is no variant \"onednn\"");
}

} // namespace
} // namespace kg::vendor
