// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/vendor_runs.h"
#include "tests/vendor/data.h"
#include "vendor/rmsnorm/rmsnorm.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

TEST(Vendor, RmsnormExistsOnAGpuAndNotInF64) {
  for (const Dtype dtype : kFloats)
    EXPECT_EQ(rmsnorm_variants(dtype).empty(), backend == Backend::host);
  EXPECT_TRUE(rmsnorm_variants(Dtype::f64).empty());
}

// Rows of +-2: with epsilon 12 the factor is 1/4, the result +-gamma / 2. With and without the
// factors.
TEST(Vendor, RmsnormNormalisesEachRowAndStoresItsFactor) {
  Stream stream;
  constexpr std::int64_t kRows = 5;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : rmsnorm_variants(dtype))
      for (const std::int64_t cols : {2, 6, 70})
        for (const bool stored : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} cols {} {}", variant, name(dtype), cols, stored));
          std::vector<double> x, gamma, expected;
          for (std::int64_t j = 0; j < cols; ++j)
            gamma.push_back(small_integer(static_cast<std::size_t>(j)));
          for (std::int64_t i = 0; i < kRows; ++i)
            for (std::int64_t j = 0; j < cols; ++j) {
              const double sign = (i + j) % 2 ? -1 : 1;
              x.push_back(2 * sign);
              expected.push_back(sign * gamma[static_cast<std::size_t>(j)] / 2);
            }
          const Bytes device_x = upload(dtype, x, stream);
          const Bytes device_gamma = upload(dtype, gamma, stream);
          Bytes y(device_x.size());
          DeviceBuffer<float> rstd(kRows);
          if (!test::vendor_runs([&] {
                rmsnorm(variant, dtype,
                        {device_x.data(), device_gamma.data(), 12, y.data(), kRows, cols,
                         stored ? rstd.data() : nullptr},
                        stream);
              }))
            continue;
          const std::vector<double> result = download(dtype, y, stream);
          for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_NEAR(result[i], expected[i], 64 * unit_roundoff(Dtype::f32)) << i;
          for (const float factor : download(rstd, stream))
            EXPECT_TRUE(stored ? std::fabs(factor - 0.25F) < 1e-6F : is_poison(factor)) << factor;
        }
}

TEST(Vendor, RmsnormOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : rmsnorm_variants(Dtype::f32)) {
    rmsnorm(variant, Dtype::f32, {nullptr, nullptr, 1, out.data(), 0, 5}, stream);
    rmsnorm(variant, Dtype::f32, {nullptr, nullptr, 1, out.data(), 5, 0}, stream);
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, RmsnormListsItsVariants) {
  Stream stream;
  const auto known = rmsnorm_variants(Dtype::f32);
  expect_error([&] { rmsnorm("cufft", Dtype::f32, {}, stream); },
               "use one of: " + std::string(known.empty() ? "(none)" : known.front()));
}

} // namespace
} // namespace kg::vendor
