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
  for (const std::string_view variant : transpose_variants())
    for (const auto& [rows, cols, ldx, ldy] : {Shape{5, 3, 7, 9},
                                               {64, 96, 96, 64},
                                               {1, 17, 17, 1},
                                               {17, 1, 4, 20},
                                               {130, 33, 40, 131}}) {
      SCOPED_TRACE(fmt::format("{} {} x {}", variant, rows, cols));
      std::vector<float> x = strided(rows, cols, ldx);
      x[0] = -0.0F;
      const auto device_x = DeviceBuffer<float>::from_host(x, stream);
      DeviceBuffer<float> y(static_cast<std::size_t>(cols * ldy));
      transpose(variant, device_x.data(), rows, cols, ldx, y.data(), ldy, stream);
      const std::vector<float> result = download(y, stream);
      for (std::int64_t j = 0; j < cols; ++j)
        for (std::int64_t i = 0; i < ldy; ++i) {
          const float moved = result[static_cast<std::size_t>(j * ldy + i)];
          if (i >= rows) {
            ASSERT_TRUE(is_poison(moved)) << "gap " << j << ", " << i;
          } else {
            ASSERT_EQ(test::raw_bits(moved),
                      test::raw_bits(x[static_cast<std::size_t>(i * ldx + j)]))
                << j << ", " << i;
          }
        }
    }
}

TEST(Vendor, TransposeOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  ASSERT_FALSE(transpose_variants().empty());
  for (const std::string_view variant : transpose_variants()) {
    transpose(variant, nullptr, 0, 3, 3, out.data(), 0, stream);
    transpose(variant, nullptr, 3, 0, 0, out.data(), 3, stream);
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, TransposeNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view known = transpose_variants().front();
  expect_error([&] { transpose("cufft", nullptr, 0, 0, 0, nullptr, 0, stream); },
               "use one of: " + std::string(known));
  expect_error([&] { transpose(known, p, 2, 4, 3, p + 8, 2, stream); }, "ldx is 3");
  expect_error([&] { transpose(known, p, 2, 4, 4, p + 8, 1, stream); }, "ldy is 1");
}

} // namespace
} // namespace kg::vendor
