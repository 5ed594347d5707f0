// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/axpy/axpy.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

TEST(Vendor, AxpyExistsInF32AndNotInI32) {
  EXPECT_FALSE(axpy_variants(Dtype::f32).empty());
  EXPECT_TRUE(axpy_variants(Dtype::i32).empty());
}

TEST(Vendor, AxpyGivesTheExactResult) {
  Stream stream;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : axpy_variants(dtype))
      for (const float alpha : {0.0F, 1.0F, -2.5F})
        for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{4099}}) {
          SCOPED_TRACE(fmt::format("{} {} alpha {} n {}", variant, name(dtype), alpha, n));
          std::vector<double> x(n), y(n), expected(n);
          for (std::size_t i = 0; i < n; ++i) {
            x[i] = small_integer(i);
            y[i] = small_integer(i + 5);
            expected[i] = static_cast<double>(alpha) * x[i] + y[i];
          }
          const Bytes device_x = upload(dtype, x, stream);
          const Bytes device_y = upload(dtype, y, stream);
          Bytes out(n * size_of(dtype));
          axpy(variant, dtype, alpha, device_x.data(), device_y.data(), out.data(),
               static_cast<std::int64_t>(n), stream);
          EXPECT_EQ(download(dtype, out, stream), expected);
          EXPECT_EQ(download(dtype, device_y, stream), y);
        }
}

TEST(Vendor, AxpyOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : axpy_variants(Dtype::f32))
    axpy(variant, Dtype::f32, 2, nullptr, nullptr, out.data(), 0, stream);
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, AxpyNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view variant = axpy_variants(Dtype::f32).front();
  expect_error([&] { axpy("cufft", Dtype::f32, 1, nullptr, nullptr, nullptr, 0, stream); },
               "use one of: " + std::string(variant));
  expect_error([&] { axpy(variant, Dtype::f32, 1, p, p, p, -1, stream); }, "n is -1");
  expect_error([&] { axpy(variant, Dtype::f32, 1, p, nullptr, p, 4, stream); }, "y is null");
}

} // namespace
} // namespace kg::vendor
