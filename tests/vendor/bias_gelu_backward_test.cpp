// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_bias_gelu_backward.h"
#include "tests/vendor/data.h"
#include "vendor/bias_gelu_backward/bias_gelu_backward.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

constexpr std::array kForms = {Gelu::erf, Gelu::tanh};

TEST(Vendor, BiasGeluBackwardExistsInF32AndNotInI32) {
  for (const Gelu form : kForms) {
    EXPECT_FALSE(bias_gelu_backward_variants(form, Dtype::f32).empty());
    EXPECT_TRUE(bias_gelu_backward_variants(form, Dtype::i32).empty());
  }
}

// Closer than the two forms' slopes are to each other: in f32 they differ by 10^-3.
TEST(Vendor, BiasGeluBackwardAddsTheBiasAndSumsTheColumns) {
  Stream stream;
  constexpr std::size_t kRows = 5;
  for (const Dtype dtype : kFloats)
    for (const Gelu form : kForms)
      for (const std::string_view variant : bias_gelu_backward_variants(form, dtype))
        for (const std::size_t cols : {std::size_t{1}, std::size_t{7}, std::size_t{260}}) {
          SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), cols));
          std::vector<double> x(kRows * cols), dy(x.size()), bias(cols);
          for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = 0.5 * small_integer(i);
            dy[i] = 0.25 * small_integer(i + 5);
          }
          for (std::size_t i = 0; i < cols; ++i) bias[i] = 0.25 * small_integer(i + 3);
          const auto op = form == Gelu::erf ? test::UnaryOp::gelu : test::UnaryOp::gelu_tanh;
          const auto expected = test::bias_gelu_gradients_oracle(op, test::bias_sums(x, bias), dy,
                                                                 static_cast<std::int64_t>(cols));
          const Bytes device_x = upload(dtype, x, stream);
          const Bytes device_bias = upload(dtype, bias, stream);
          const Bytes device_dy = upload(dtype, dy, stream);
          Bytes dx(device_x.size());
          Bytes dbias(device_bias.size());
          bias_gelu_backward(
              variant, form, dtype,
              {device_x.data(), device_bias.data(), device_dy.data(), dx.data(), dbias.data()},
              kRows, static_cast<std::int64_t>(cols), stream);
          const std::vector<double> actual_dx = download(dtype, dx, stream);
          const std::vector<double> actual_dbias = download(dtype, dbias, stream);
          const double tolerance = dtype == Dtype::f32 ? 1e-5 : 4e-2;
          for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_NEAR(actual_dx[i], expected.dx[i], tolerance) << i;
          for (std::size_t i = 0; i < cols; ++i)
            ASSERT_NEAR(actual_dbias[i], expected.dbias[i], tolerance) << i;
        }
}

TEST(Vendor, BiasGeluBackwardOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> dbias(1);
  for (const std::string_view variant : bias_gelu_backward_variants(Gelu::erf, Dtype::f32))
    bias_gelu_backward(variant, Gelu::erf, Dtype::f32,
                       {nullptr, nullptr, nullptr, nullptr, dbias.data()}, 0, 4, stream);
  EXPECT_TRUE(is_poison(download(dbias, stream)[0]));
}

TEST(Vendor, BiasGeluBackwardNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(32);
  float* const p = memory.data();
  const std::string_view known = bias_gelu_backward_variants(Gelu::erf, Dtype::f32).front();
  const auto run = [&](std::string_view variant, const float* dy, std::int64_t rows) {
    bias_gelu_backward(variant, Gelu::erf, Dtype::f32, {p, p + 4, dy, p + 16, p + 24}, rows, 4,
                       stream);
  };
  expect_error([&] { run("cufft", p, 1); }, "use one of: " + std::string(known));
  expect_error([&] { run(known, p, -1); }, "rows is -1");
  expect_error([&] { run(known, nullptr, 1); }, "dy is null");
}

} // namespace
} // namespace kg::vendor
