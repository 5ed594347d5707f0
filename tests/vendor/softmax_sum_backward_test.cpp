// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_softmax_sum_backward.h"
#include "tests/vendor/data.h"
#include "vendor/softmax_sum_backward/softmax_sum_backward.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

float* floats(const Bytes& bytes) { return reinterpret_cast<float*>(bytes.data()); }

TEST(Vendor, SoftmaxSumBackwardWeighsDyAndSumsTheTerms) {
  Stream stream;
  ASSERT_FALSE(softmax_sum_backward_variants().empty());
  for (const std::string_view variant : softmax_sum_backward_variants())
    for (const std::size_t terms : {std::size_t{1}, std::size_t{3}, std::size_t{8}})
      for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{1030}}) {
        SCOPED_TRACE(fmt::format("{} terms {} n {}", variant, terms, n));
        std::vector<double> x(terms * n), alpha(terms), dy(n);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = small_integer(i);
        for (std::size_t i = 0; i < n; ++i) dy[i] = small_integer(i * i + 5);
        for (std::size_t k = 0; k < terms; ++k) alpha[k] = 0.5 * small_integer(k + 2);
        const auto expected = test::softmax_sum_gradients_oracle(Dtype::f32, x, alpha, dy);
        const Bytes device_x = upload(Dtype::f32, x, stream);
        const Bytes device_alpha = upload(Dtype::f32, alpha, stream);
        const Bytes device_dy = upload(Dtype::f32, dy, stream);
        Bytes dx(device_x.size());
        Bytes dalpha(device_alpha.size());
        softmax_sum_backward(
            variant,
            {floats(device_x), floats(device_alpha), floats(device_dy), floats(dx), floats(dalpha)},
            static_cast<std::int64_t>(terms), static_cast<std::int64_t>(n), stream);
        const std::vector<double> actual_dx = download(Dtype::f32, dx, stream);
        const std::vector<double> actual_dalpha = download(Dtype::f32, dalpha, stream);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(actual_dx[i], expected.dx[i], 1e-5) << i;
        for (std::size_t k = 0; k < terms; ++k)
          ASSERT_NEAR(actual_dalpha[k], expected.dalpha[k], 1e-2) << k;
      }
}

TEST(Vendor, SoftmaxSumBackwardOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> dalpha(1);
  for (const std::string_view variant : softmax_sum_backward_variants())
    softmax_sum_backward(variant, {nullptr, nullptr, nullptr, nullptr, dalpha.data()}, 3, 0,
                         stream);
  EXPECT_TRUE(is_poison(download(dalpha, stream)[0]));
}

TEST(Vendor, SoftmaxSumBackwardNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view known = softmax_sum_backward_variants().front();
  const auto run = [&](std::string_view variant, const float* dy, std::int64_t terms) {
    softmax_sum_backward(variant, {p, p + 4, dy, p + 8, p + 12}, terms, 1, stream);
  };
  expect_error([&] { run("cufft", p, 1); }, "use one of: " + std::string(known));
  expect_error([&] { run(known, p, -1); }, "terms is -1");
  expect_error([&] { run(known, nullptr, 1); }, "dy is null");
}

} // namespace
} // namespace kg::vendor
