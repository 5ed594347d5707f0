// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/vendor_runs.h"
#include "tests/vendor/data.h"
#include "vendor/residual_rmsnorm/residual_rmsnorm.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

TEST(Vendor, ResidualRmsnormExistsOnAGpuAndNotInF64) {
  for (const Dtype dtype : kFloats)
    EXPECT_EQ(residual_rmsnorm_variants(dtype).empty(), backend == Backend::host);
  EXPECT_TRUE(residual_rmsnorm_variants(Dtype::f64).empty());
}

// Sums of +-2: with epsilon 12 the factor is 1/4, the result +-gamma / 2.
TEST(Vendor, ResidualRmsnormNormalisesTheSum) {
  Stream stream;
  constexpr std::int64_t kRows = 5;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : residual_rmsnorm_variants(dtype))
      for (const std::int64_t cols : {2, 6, 70}) {
        SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), cols));
        std::vector<double> x, residual, gamma, z, y;
        for (std::int64_t j = 0; j < cols; ++j)
          gamma.push_back(small_integer(static_cast<std::size_t>(j)));
        for (std::int64_t i = 0; i < kRows; ++i)
          for (std::int64_t j = 0; j < cols; ++j) {
            z.push_back((i + j) % 2 ? -2 : 2);
            residual.push_back(small_integer(static_cast<std::size_t>(i * cols + j)));
            x.push_back(z.back() - residual.back());
            y.push_back(z.back() * gamma[static_cast<std::size_t>(j)] / 4);
          }
        const Bytes device_x = upload(dtype, x, stream);
        const Bytes device_residual = upload(dtype, residual, stream);
        const Bytes device_gamma = upload(dtype, gamma, stream);
        Bytes device_z(device_x.size());
        Bytes device_y(device_x.size());
        if (!test::vendor_runs([&] {
              residual_rmsnorm(variant, dtype,
                               {device_x.data(), device_residual.data(), device_gamma.data(), 12,
                                device_z.data(), device_y.data(), kRows, cols},
                               stream);
            }))
          continue;
        EXPECT_EQ(download(dtype, device_z, stream), z);
        const std::vector<double> result = download(dtype, device_y, stream);
        for (std::size_t i = 0; i < y.size(); ++i)
          ASSERT_NEAR(result[i], y[i], 64 * unit_roundoff(Dtype::f32)) << i;
      }
}

TEST(Vendor, ResidualRmsnormOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : residual_rmsnorm_variants(Dtype::f32)) {
    ResidualRmsnormProblem problem{};
    problem.y = out.data();
    problem.cols = 5;
    residual_rmsnorm(variant, Dtype::f32, problem, stream);
    problem.rows = 5;
    problem.cols = 0;
    residual_rmsnorm(variant, Dtype::f32, problem, stream);
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, ResidualRmsnormListsItsVariants) {
  Stream stream;
  const auto known = residual_rmsnorm_variants(Dtype::f32);
  expect_error([&] { residual_rmsnorm("cufft", Dtype::f32, {}, stream); },
               "use one of: " + std::string(known.empty() ? "(none)" : known.front()));
}

} // namespace
} // namespace kg::vendor
