// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/vendor_runs.h"
#include "tests/vendor/data.h"
#include "vendor/layernorm/layernorm.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

TEST(Vendor, LayernormExistsInF32AndNotInF64) {
  EXPECT_FALSE(layernorm_variants(Dtype::f32).empty());
  EXPECT_EQ(layernorm_variants(Dtype::f32, Statistics::stored).empty(), backend == Backend::host);
  EXPECT_TRUE(layernorm_variants(Dtype::f64).empty());
}

// Rows of m + d and m - d: mean m, deviation d, so that (x - mean) / deviation is 1 or -1, whatever
// the order; gamma and beta are small integers.
TEST(Vendor, LayernormNormalisesEachRow) {
  Stream stream;
  constexpr std::int64_t kRows = 5;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : layernorm_variants(dtype))
      for (const std::int64_t cols : {2, 6, 70}) {
        SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), cols));
        std::vector<double> x, gamma, beta, expected;
        for (std::int64_t j = 0; j < cols; ++j) {
          gamma.push_back(small_integer(static_cast<std::size_t>(j)));
          beta.push_back(small_integer(static_cast<std::size_t>(j + 5)));
        }
        for (std::int64_t i = 0; i < kRows; ++i)
          for (std::int64_t j = 0; j < cols; ++j) {
            const double sign = j % 2 ? -1 : 1;
            x.push_back(static_cast<double>(3 * i) + sign * std::ldexp(1, static_cast<int>(i)));
            expected.push_back(sign * gamma[static_cast<std::size_t>(j)] +
                               beta[static_cast<std::size_t>(j)]);
          }
        const Bytes device_x = upload(dtype, x, stream);
        const Bytes device_gamma = upload(dtype, gamma, stream);
        const Bytes device_beta = upload(dtype, beta, stream);
        Bytes y(device_x.size());
        if (!test::vendor_runs([&] {
              layernorm(variant, dtype,
                        {device_x.data(), device_gamma.data(), device_beta.data(), 0, y.data(),
                         kRows, cols},
                        stream);
            }))
          continue;
        const std::vector<double> result = download(dtype, y, stream);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(result[i], expected[i], 64 * unit_roundoff(Dtype::f32)) << i;
      }
}

// Rows of m + d and m - d, m and d whole: the mean and 1 / sqrt(d^2 + epsilon).
TEST(Vendor, LayernormStoresItsStatistics) {
  Stream stream;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : layernorm_variants(dtype, Statistics::stored)) {
      SCOPED_TRACE(fmt::format("{} {}", variant, name(dtype)));
      constexpr std::int64_t kRows = 3;
      constexpr std::int64_t kCols = 64;
      std::vector<double> x;
      for (std::int64_t i = 0; i < kRows * kCols; ++i)
        x.push_back(static_cast<double>(i / kCols) + (i % 2 ? -2 : 2));
      const Bytes device_x = upload(dtype, x, stream);
      const Bytes ones = upload(dtype, std::vector<double>(kCols, 1), stream);
      Bytes y(device_x.size());
      DeviceBuffer<float> mean(kRows), rstd(kRows);
      if (!test::vendor_runs([&] {
            layernorm(variant, dtype,
                      {device_x.data(), ones.data(), ones.data(), 12, y.data(), kRows, kCols,
                       mean.data(), rstd.data()},
                      stream);
          }))
        continue;
      const auto means = download(mean, stream);
      const auto rstds = download(rstd, stream);
      for (std::size_t row = 0; row < kRows; ++row) {
        EXPECT_NEAR(means[row], static_cast<double>(row), 1e-6);
        EXPECT_NEAR(rstds[row], 0.25, 1e-6);
      }
      EXPECT_NEAR(download(dtype, y, stream)[0], 1.5, 1e-6);
    }
}

TEST(Vendor, LayernormAddsEpsilonToTheVariance) {
  Stream stream;
  for (const std::string_view variant : layernorm_variants(Dtype::f32)) {
    const auto x = DeviceBuffer<float>::from_host(std::vector<float>{1, -1}, stream);
    const auto gamma = DeviceBuffer<float>::from_host(std::vector<float>{1, 1}, stream);
    const auto beta = DeviceBuffer<float>::from_host(std::vector<float>{0, 0}, stream);
    DeviceBuffer<float> y(2);
    if (!test::vendor_runs([&] {
          layernorm(variant, Dtype::f32, {x.data(), gamma.data(), beta.data(), 3, y.data(), 1, 2},
                    stream);
        }))
      continue;
    EXPECT_NEAR(download(y, stream)[0], 0.5, 1e-6);
  }
}

TEST(Vendor, LayernormOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : layernorm_variants(Dtype::f32)) {
    layernorm(variant, Dtype::f32, {nullptr, nullptr, nullptr, 1, out.data(), 0, 5}, stream);
    layernorm(variant, Dtype::f32, {nullptr, nullptr, nullptr, 1, out.data(), 5, 0}, stream);
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, LayernormListsItsVariants) {
  Stream stream;
  const auto known = layernorm_variants(Dtype::f32);
  expect_error([&] { layernorm("cufft", Dtype::f32, {}, stream); },
               "use one of: " + std::string(known.empty() ? "(none)" : known.front()));
  expect_error([&] { layernorm("onednn", Dtype::i32, {}, stream); },
               "layernorm(i32): there is no variant \"onednn\"");
}

} // namespace
} // namespace kg::vendor
