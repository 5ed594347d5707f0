// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/softmax_backward/softmax_backward.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

constexpr SoftmaxKind kKinds[] = {SoftmaxKind::softmax, SoftmaxKind::log_softmax};

TEST(Vendor, SoftmaxBackwardExistsInF32AndNotInF64) {
  for (const SoftmaxKind kind : kKinds) {
    EXPECT_FALSE(softmax_backward_variants(kind, Dtype::f32).empty());
    EXPECT_TRUE(softmax_backward_variants(kind, Dtype::f64).empty());
  }
}

// Each kind by its own formula, y and dy in their places. y is not a softmax: the formula has no
// need of one.
TEST(Vendor, SoftmaxBackwardTakesResultsAndGradients) {
  Stream stream;
  constexpr std::int64_t kRows = 3;
  for (const SoftmaxKind kind : kKinds)
    for (const Dtype dtype : kFloats)
      for (const std::string_view variant : softmax_backward_variants(kind, dtype))
        for (const std::int64_t cols : {1, 5, 70}) {
          SCOPED_TRACE(fmt::format("{} {} log {} cols {}", variant, name(dtype),
                                   kind == SoftmaxKind::log_softmax, cols));
          const auto row_length = static_cast<std::size_t>(cols);
          std::vector<double> y(kRows * row_length), dy(y.size()), expected(y.size());
          for (std::size_t i = 0; i < y.size(); ++i) {
            y[i] = kind == SoftmaxKind::softmax ? std::ldexp(1, -2 - static_cast<int>(i % 3))
                                                : -static_cast<double>(i % 5);
            dy[i] = small_integer(i);
          }
          double largest = 0;
          for (std::size_t first = 0; first < y.size(); first += row_length) {
            double sum = 0;
            for (std::size_t i = first; i < first + row_length; ++i)
              sum += kind == SoftmaxKind::softmax ? y[i] * dy[i] : dy[i];
            for (std::size_t i = first; i < first + row_length; ++i) {
              expected[i] = kind == SoftmaxKind::softmax ? y[i] * (dy[i] - sum)
                                                         : dy[i] - std::exp(y[i]) * sum;
              largest = std::max(largest, std::fabs(expected[i]));
            }
          }
          const Bytes device_y = upload(dtype, y, stream);
          const Bytes device_dy = upload(dtype, dy, stream);
          Bytes dx(device_y.size());
          softmax_backward(variant, kind, dtype, device_y.data(), device_dy.data(), dx.data(),
                           kRows, cols, stream);
          const std::vector<double> result = download(dtype, dx, stream);
          const double tolerance =
              (32 * unit_roundoff(Dtype::f32) + 2 * unit_roundoff(dtype)) * (1 + largest);
          for (std::size_t i = 0; i < y.size(); ++i)
            ASSERT_NEAR(result[i], expected[i], tolerance) << i;
        }
}

TEST(Vendor, SoftmaxBackwardOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const SoftmaxKind kind : kKinds)
    for (const std::string_view variant : softmax_backward_variants(kind, Dtype::f32)) {
      softmax_backward(variant, kind, Dtype::f32, nullptr, nullptr, out.data(), 0, 5, stream);
      softmax_backward(variant, kind, Dtype::f32, nullptr, nullptr, out.data(), 5, 0, stream);
    }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, SoftmaxBackwardListsItsVariants) {
  Stream stream;
  constexpr SoftmaxKind kLog = SoftmaxKind::log_softmax;
  const std::string_view known = softmax_backward_variants(kLog, Dtype::f32).front();
  expect_error(
      [&] { softmax_backward("cufft", kLog, Dtype::f32, nullptr, nullptr, nullptr, 0, 0, stream); },
      "use one of: " + std::string(known));
  // A name that exists, but not for this type.
  expect_error(
      [&] { softmax_backward(known, kLog, Dtype::i32, nullptr, nullptr, nullptr, 0, 0, stream); },
      "log_softmax_backward(i32): there is no variant \"" + std::string(known) + "\"");
}

} // namespace
} // namespace kg::vendor
