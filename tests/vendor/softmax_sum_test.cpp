// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_softmax_sum.h"
#include "tests/vendor/data.h"
#include "vendor/softmax_sum/softmax_sum.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

TEST(Vendor, SoftmaxSumWeighsTheTensors) {
  Stream stream;
  ASSERT_FALSE(softmax_sum_variants().empty());
  for (const std::string_view variant : softmax_sum_variants())
    for (const std::size_t terms : {std::size_t{1}, std::size_t{3}, std::size_t{8}})
      for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{1030}}) {
        SCOPED_TRACE(fmt::format("{} terms {} n {}", variant, terms, n));
        std::vector<double> x(terms * n), alpha(terms);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = small_integer(i);
        for (std::size_t k = 0; k < terms; ++k) alpha[k] = 0.5 * small_integer(k + 2);
        const auto expected = test::softmax_sum_oracle(Dtype::f32, x, alpha);
        const Bytes device_x = upload(Dtype::f32, x, stream);
        const Bytes device_alpha = upload(Dtype::f32, alpha, stream);
        Bytes y(n * sizeof(float));
        softmax_sum(variant, reinterpret_cast<const float*>(device_x.data()),
                    reinterpret_cast<const float*>(device_alpha.data()),
                    reinterpret_cast<float*>(y.data()), static_cast<std::int64_t>(terms),
                    static_cast<std::int64_t>(n), stream);
        const std::vector<double> actual = download(Dtype::f32, y, stream);
        for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(actual[i], expected.value[i], 1e-5) << i;
      }
}

TEST(Vendor, SoftmaxSumOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> y(1);
  for (const std::string_view variant : softmax_sum_variants())
    softmax_sum(variant, nullptr, nullptr, y.data(), 3, 0, stream);
  EXPECT_TRUE(is_poison(download(y, stream)[0]));
}

TEST(Vendor, SoftmaxSumNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view known = softmax_sum_variants().front();
  expect_error([&] { softmax_sum("cufft", p, p, p, 1, 1, stream); },
               "use one of: " + std::string(known));
  expect_error([&] { softmax_sum(known, p, p, p, -1, 1, stream); }, "terms is -1");
  expect_error([&] { softmax_sum(known, p, nullptr, p, 1, 1, stream); }, "alpha is null");
}

} // namespace
} // namespace kg::vendor
