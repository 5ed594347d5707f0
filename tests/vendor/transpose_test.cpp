// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/transpose/transpose.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

TEST(Vendor, TransposeHonoursLeadingDimensions) {
  Stream stream;
  struct Shape {
    std::int64_t rows, cols, ldx, ldy;
  };
  for (const Dtype dtype : {Dtype::i8, Dtype::f16, Dtype::f32, Dtype::f64})
    for (const std::string_view variant : transpose_variants(dtype))
      for (const auto& [rows, cols, ldx, ldy] : {Shape{5, 3, 7, 9},
                                                 {64, 96, 96, 64},
                                                 {1, 17, 17, 1},
                                                 {17, 1, 4, 20},
                                                 {130, 33, 40, 131}}) {
        SCOPED_TRACE(fmt::format("{} {} {} x {}", variant, name(dtype), rows, cols));
        const std::vector<float> stored = strided(rows, cols, ldx);
        std::vector<double> x(stored.size());
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = stored[i] == kGap ? 99 : stored[i];
        const Bytes device_x = upload(dtype, x, stream);
        const Bytes y =
            upload(dtype, std::vector<double>(static_cast<std::size_t>(cols * ldy), 77), stream);
        transpose(variant, dtype, device_x.data(), rows, cols, ldx, y.data(), ldy, stream);
        const std::vector<double> result = download(dtype, y, stream);
        for (std::int64_t j = 0; j < cols; ++j)
          for (std::int64_t i = 0; i < ldy; ++i)
            ASSERT_EQ(result[static_cast<std::size_t>(j * ldy + i)],
                      i < rows ? x[static_cast<std::size_t>(i * ldx + j)] : 77)
                << j << ", " << i;
      }
}

TEST(Vendor, TransposeKeepsTheSignOfZero) {
  Stream stream;
  const auto x = DeviceBuffer<float>::from_host(std::vector<float>{1, -0.0F, 3, 4}, stream);
  for (const std::string_view variant : transpose_variants(Dtype::f32)) {
    DeviceBuffer<float> y(4);
    transpose(variant, Dtype::f32, x.data(), 2, 2, 2, y.data(), 2, stream);
    EXPECT_EQ(test::raw_bits(download(y, stream)[2]), test::raw_bits(-0.0F)) << variant;
  }
}

TEST(Vendor, TransposeOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  ASSERT_FALSE(transpose_variants(Dtype::f32).empty());
  for (const std::string_view variant : transpose_variants(Dtype::f32)) {
    transpose(variant, Dtype::f32, nullptr, 0, 3, 3, out.data(), 0, stream);
    transpose(variant, Dtype::f32, nullptr, 3, 0, 0, out.data(), 3, stream);
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, TransposeNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view known = transpose_variants(Dtype::f32).front();
  expect_error([&] { transpose("cufft", Dtype::f32, nullptr, 0, 0, 0, nullptr, 0, stream); },
               "use one of: " + std::string(known));
  expect_error([&] { transpose(known, Dtype::f32, p, 2, 4, 3, p + 8, 2, stream); }, "ldx is 3");
  expect_error([&] { transpose(known, Dtype::f32, p, 2, 4, 4, p + 8, 1, stream); }, "ldy is 1");
}

} // namespace
} // namespace kg::vendor
