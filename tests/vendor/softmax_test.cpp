// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/softmax/softmax.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

TEST(Vendor, SoftmaxExistsInF32AndNotInF64) {
  EXPECT_FALSE(softmax_variants(Dtype::f32).empty());
  EXPECT_TRUE(softmax_variants(Dtype::f64).empty());
}

// Rows of small integers beside rows around 1000, whose exponentials overflow unless the largest is
// taken off first. The bound is that of a softmax in f32, (8 + |x - m| + 0.75 sqrt(chain)) u <= 24
// u here, and two roundings to the type: oneDNN stores the exponentials in it before it scales
// them.
TEST(Vendor, SoftmaxNormalisesEachRow) {
  Stream stream;
  constexpr std::int64_t kRows = 6;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : softmax_variants(dtype))
      for (const std::int64_t cols : {1, 5, 70}) {
        SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), cols));
        std::vector<double> x(static_cast<std::size_t>(kRows * cols));
        std::vector<double> expected(x.size());
        for (std::int64_t i = 0; i < kRows; ++i) {
          const auto first = static_cast<std::size_t>(i * cols);
          double sum = 0;
          for (std::size_t j = first; j < first + static_cast<std::size_t>(cols); ++j) {
            const double offset = 4 * std::floor(small_integer(j) / 4); // a step of bf16 at 1000
            x[j] = i % 2 ? 1000 + offset : small_integer(j);
            expected[j] = std::exp(x[j] - (i % 2 ? 1000 : 0));
            sum += expected[j];
          }
          for (std::size_t j = first; j < first + static_cast<std::size_t>(cols); ++j)
            expected[j] /= sum;
        }
        const Bytes device_x = upload(dtype, x, stream);
        Bytes y(device_x.size());
        softmax(variant, dtype, device_x.data(), y.data(), kRows, cols, stream);
        const std::vector<double> result = download(dtype, y, stream);
        const double tolerance = 24 * unit_roundoff(Dtype::f32) + 2 * unit_roundoff(dtype);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(result[i], expected[i], tolerance * expected[i]) << i;
      }
}

TEST(Vendor, SoftmaxOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : softmax_variants(Dtype::f32)) {
    softmax(variant, Dtype::f32, nullptr, out.data(), 0, 5, stream);
    softmax(variant, Dtype::f32, nullptr, out.data(), 5, 0, stream);
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, SoftmaxListsItsVariants) {
  Stream stream;
  const std::string_view known = softmax_variants(Dtype::f32).front();
  expect_error([&] { softmax("cufft", Dtype::f32, nullptr, nullptr, 0, 0, stream); },
               "use one of: " + std::string(known));
  // A name that exists, but not for this type.
  expect_error([&] { softmax(known, Dtype::i32, nullptr, nullptr, 0, 0, stream); },
               "softmax(i32): there is no variant \"" + std::string(known) + "\"");
}

} // namespace
} // namespace kg::vendor
