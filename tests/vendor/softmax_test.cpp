// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/softmax/softmax.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

constexpr SoftmaxKind kKinds[] = {SoftmaxKind::softmax, SoftmaxKind::log_softmax};

TEST(Vendor, SoftmaxExistsInF32AndNotInF64) {
  for (const SoftmaxKind kind : kKinds) {
    EXPECT_FALSE(softmax_variants(kind, Dtype::f32).empty());
    EXPECT_TRUE(softmax_variants(kind, Dtype::f64).empty());
  }
}

// Rows of small integers beside rows around 1000, whose exponentials overflow unless the largest is
// taken off first. The bound is that of a softmax in f32, (8 + |x - m| + 0.75 sqrt(chain)) u <= 24
// u here, and two roundings to the type: oneDNN stores the exponentials in it before it scales
// them.
TEST(Vendor, SoftmaxNormalisesEachRow) {
  Stream stream;
  constexpr std::int64_t kRows = 6;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : softmax_variants(SoftmaxKind::softmax, dtype))
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
        softmax(variant, SoftmaxKind::softmax, dtype, device_x.data(), y.data(), kRows, cols,
                stream);
        const std::vector<double> result = download(dtype, y, stream);
        const double tolerance = 24 * unit_roundoff(Dtype::f32) + 2 * unit_roundoff(dtype);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(result[i], expected[i], tolerance * expected[i]) << i;
      }
}

// Rows of 2^k equal numbers, around 1000 in every other one: -k log 2 each. oneDNN's logarithm of 1
// is 24 u of f32 (2.6.3): absolute, not of the result.
TEST(Vendor, LogSoftmaxTakesTheLogarithm) {
  Stream stream;
  constexpr std::int64_t kRows = 4;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : softmax_variants(SoftmaxKind::log_softmax, dtype))
      for (const int k : {0, 3, 7}) {
        SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), 1 << k));
        const std::int64_t cols = 1 << k;
        std::vector<double> x(static_cast<std::size_t>(kRows * cols));
        for (std::size_t i = 0; i < x.size(); ++i)
          x[i] = i / static_cast<std::size_t>(cols) % 2 ? 1000 : -4;
        const Bytes device_x = upload(dtype, x, stream);
        Bytes y(device_x.size());
        softmax(variant, SoftmaxKind::log_softmax, dtype, device_x.data(), y.data(), kRows, cols,
                stream);
        const double expected = -k * std::log(2.0);
        const double tolerance =
            48 * unit_roundoff(Dtype::f32) - 2 * unit_roundoff(dtype) * expected;
        for (const double result : download(dtype, y, stream))
          ASSERT_NEAR(result, expected, tolerance);
      }
}

TEST(Vendor, SoftmaxOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const SoftmaxKind kind : kKinds)
    for (const std::string_view variant : softmax_variants(kind, Dtype::f32)) {
      softmax(variant, kind, Dtype::f32, nullptr, out.data(), 0, 5, stream);
      softmax(variant, kind, Dtype::f32, nullptr, out.data(), 5, 0, stream);
    }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, SoftmaxListsItsVariants) {
  Stream stream;
  constexpr SoftmaxKind kLog = SoftmaxKind::log_softmax;
  const std::string_view known = softmax_variants(kLog, Dtype::f32).front();
  expect_error([&] { softmax("cufft", kLog, Dtype::f32, nullptr, nullptr, 0, 0, stream); },
               "use one of: " + std::string(known));
  // A name that exists, but not for this type.
  expect_error([&] { softmax(known, kLog, Dtype::i32, nullptr, nullptr, 0, 0, stream); },
               "log_softmax(i32): there is no variant \"" + std::string(known) + "\"");
}

} // namespace
} // namespace kg::vendor
