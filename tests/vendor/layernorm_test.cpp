// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/layernorm/layernorm.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

TEST(Vendor, LayernormExistsOnTheHostAndNotInF64) {
  EXPECT_EQ(layernorm_variants(Dtype::f32).empty(), backend == Backend::cuda);
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
        layernorm(
            variant, dtype,
            {device_x.data(), device_gamma.data(), device_beta.data(), 0, y.data(), kRows, cols},
            stream);
        const std::vector<double> result = download(dtype, y, stream);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(result[i], expected[i], 64 * unit_roundoff(Dtype::f32)) << i;
      }
}

TEST(Vendor, LayernormAddsEpsilonToTheVariance) {
  Stream stream;
  for (const std::string_view variant : layernorm_variants(Dtype::f32)) {
    const auto x = DeviceBuffer<float>::from_host(std::vector<float>{1, -1}, stream);
    const auto gamma = DeviceBuffer<float>::from_host(std::vector<float>{1, 1}, stream);
    const auto beta = DeviceBuffer<float>::from_host(std::vector<float>{0, 0}, stream);
    DeviceBuffer<float> y(2);
    layernorm(variant, Dtype::f32, {x.data(), gamma.data(), beta.data(), 3, y.data(), 1, 2},
              stream);
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
