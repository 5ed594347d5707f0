// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/vendor_runs.h"
#include "tests/vendor/data.h"
#include "vendor/rmsnorm_backward/rmsnorm_backward.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

TEST(Vendor, RmsnormBackwardExistsOnAGpuAndNotInF64) {
  for (const Dtype dtype : kFloats)
    EXPECT_EQ(rmsnorm_backward_variants(dtype).empty(), backend == Backend::host);
  EXPECT_TRUE(rmsnorm_backward_variants(Dtype::f64).empty());
}

// The formulas of rmsnorm_backward.h, with factors that are not those of x: 2^-i.
TEST(Vendor, RmsnormBackwardTakesItsArguments) {
  Stream stream;
  constexpr std::size_t kRows = 4;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : rmsnorm_backward_variants(dtype))
      for (const std::size_t cols : {2u, 6u, 70u}) {
        SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), cols));
        std::vector<double> dy, x, gamma, dx, dgamma(cols);
        std::vector<float> rstd;
        for (std::size_t j = 0; j < cols; ++j) gamma.push_back(small_integer(j + 3));
        for (std::size_t i = 0; i < kRows * cols; ++i) {
          dy.push_back(small_integer(i));
          x.push_back(small_integer(7 * i + 1));
        }
        for (std::size_t i = 0; i < kRows; ++i) {
          const double factor = std::ldexp(1.0, -static_cast<int>(i));
          rstd.push_back(static_cast<float>(factor));
          const auto n = [&](std::size_t j) { return x[i * cols + j] * factor; };
          const auto g = [&](std::size_t j) { return dy[i * cols + j] * gamma[j]; };
          double dot = 0;
          for (std::size_t j = 0; j < cols; ++j) {
            dot += g(j) * n(j) / static_cast<double>(cols);
            dgamma[j] += dy[i * cols + j] * n(j);
          }
          for (std::size_t j = 0; j < cols; ++j) dx.push_back(factor * (g(j) - n(j) * dot));
        }
        const Bytes device_dy = upload(dtype, dy, stream);
        const Bytes device_x = upload(dtype, x, stream);
        const Bytes device_gamma = upload(dtype, gamma, stream);
        const auto device_rstd = DeviceBuffer<float>::from_host(rstd, stream);
        Bytes device_dx(device_x.size());
        Bytes device_dgamma(device_gamma.size());
        if (!test::vendor_runs([&] {
              rmsnorm_backward(variant, dtype,
                               {device_dy.data(), device_x.data(), device_gamma.data(),
                                device_rstd.data(), device_dx.data(), device_dgamma.data(), kRows,
                                static_cast<std::int64_t>(cols)},
                               stream);
            }))
          continue;
        const auto expect_near = [&](const Bytes& ours, const std::vector<double>& exact) {
          const std::vector<double> values = download(dtype, ours, stream);
          for (std::size_t i = 0; i < exact.size(); ++i)
            ASSERT_NEAR(values[i], exact[i], 64 * unit_roundoff(dtype) * (1 + std::fabs(exact[i])))
                << i;
        };
        expect_near(device_dx, dx);
        expect_near(device_dgamma, dgamma);
      }
}

TEST(Vendor, RmsnormBackwardOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : rmsnorm_backward_variants(Dtype::f32)) {
    RmsnormBackwardProblem problem{};
    problem.dx = out.data();
    problem.cols = 5;
    rmsnorm_backward(variant, Dtype::f32, problem, stream);
    problem.rows = 5;
    problem.cols = 0;
    rmsnorm_backward(variant, Dtype::f32, problem, stream);
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, RmsnormBackwardListsItsVariants) {
  Stream stream;
  const auto known = rmsnorm_backward_variants(Dtype::f32);
  expect_error([&] { rmsnorm_backward("cufft", Dtype::f32, {}, stream); },
               "use one of: " + std::string(known.empty() ? "(none)" : known.front()));
}

} // namespace
} // namespace kg::vendor
