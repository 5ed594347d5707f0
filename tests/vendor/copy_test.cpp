// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/copy/copy.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

constexpr std::array kMoved = {Dtype::i8, Dtype::f16, Dtype::f32, Dtype::f64};

TEST(Vendor, CopyHonoursLeadingDimensions) {
  Stream stream;
  struct Shape {
    std::int64_t rows, cols, ldx, ldy;
  };
  for (const Dtype dtype : kMoved)
    for (const auto& [rows, cols, ldx, ldy] :
         {Shape{5, 3, 7, 9}, {64, 96, 96, 96}, {1, 17, 17, 17}, {17, 1, 4, 20}, {13, 33, 33, 40}})
      for (const std::string_view variant : copy_variants(dtype, ldx == cols && ldy == cols)) {
        SCOPED_TRACE(fmt::format("{} {} {} x {}", variant, name(dtype), rows, cols));
        std::vector<double> x(static_cast<std::size_t>(rows * ldx), 99);
        for (std::int64_t i = 0; i < rows * cols; ++i)
          x[static_cast<std::size_t>(i / cols * ldx + i % cols)] =
              small_integer(static_cast<std::size_t>(i));
        const Bytes device_x = upload(dtype, x, stream);
        const Bytes y =
            upload(dtype, std::vector<double>(static_cast<std::size_t>(rows * ldy), 77), stream);
        copy(variant, dtype, device_x.data(), rows, cols, ldx, y.data(), ldy, stream);
        const std::vector<double> result = download(dtype, y, stream);
        for (std::int64_t i = 0; i < rows * ldy; ++i)
          ASSERT_EQ(result[static_cast<std::size_t>(i)],
                    i % ldy < cols ? x[static_cast<std::size_t>(i / ldy * ldx + i % ldy)] : 77)
              << i / ldy << ", " << i % ldy;
      }
}

TEST(Vendor, CopyExistsForEverySize) {
  for (const Dtype dtype : kMoved) EXPECT_GE(copy_variants(dtype, false).size(), 2u);
}

TEST(Vendor, CopyNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  expect_error([&] { copy("cufft", Dtype::f32, nullptr, 0, 0, 0, nullptr, 0, stream); },
               "use one of: memcpy");
  expect_error([&] { copy("memcpy", Dtype::f32, p, 2, 4, 3, p + 8, 4, stream); }, "ldx is 3");
  expect_error([&] { copy("memcpy", Dtype::f32, p, 2, 4, 4, p + 8, 3, stream); }, "ldy is 3");
  expect_error([&] { copy("memcpy", Dtype::f32, nullptr, 2, 4, 4, p, 4, stream); }, "x is null");
}

} // namespace
} // namespace kg::vendor
