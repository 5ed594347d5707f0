// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_bias_gelu.h"
#include "tests/vendor/data.h"
#include "vendor/bias_gelu/bias_gelu.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

constexpr std::array kForms = {Gelu::erf, Gelu::tanh};

TEST(Vendor, BiasGeluExistsInF32AndNotInI32) {
  for (const Gelu form : kForms) {
    EXPECT_FALSE(bias_gelu_variants(form, Dtype::f32).empty());
    EXPECT_TRUE(bias_gelu_variants(form, Dtype::i32).empty());
  }
}

// Closer than the two forms are to each other: in f32 they differ by 5 10^-4.
TEST(Vendor, BiasGeluAddsTheBiasAlongTheLastAxis) {
  Stream stream;
  constexpr std::size_t kRows = 5;
  for (const Dtype dtype : kFloats)
    for (const Gelu form : kForms)
      for (const std::string_view variant : bias_gelu_variants(form, dtype))
        for (const std::size_t cols : {std::size_t{1}, std::size_t{7}, std::size_t{260}}) {
          SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), cols));
          std::vector<double> x(kRows * cols), bias(cols);
          for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.5 * small_integer(i);
          for (std::size_t i = 0; i < cols; ++i) bias[i] = 0.25 * small_integer(i + 3);
          const auto op = form == Gelu::erf ? test::UnaryOp::gelu : test::UnaryOp::gelu_tanh;
          const std::vector<double> expected = test::unary_oracle(op, test::bias_sums(x, bias));
          const Bytes device_x = upload(dtype, x, stream);
          const Bytes device_bias = upload(dtype, bias, stream);
          Bytes y(x.size() * size_of(dtype));
          bias_gelu(variant, form, dtype, device_x.data(), device_bias.data(), y.data(), kRows,
                    static_cast<std::int64_t>(cols), stream);
          const std::vector<double> actual = download(dtype, y, stream);
          const double tolerance = dtype == Dtype::f32 ? 1e-5 : 2e-2;
          for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_NEAR(actual[i], expected[i], tolerance) << i;
        }
}

TEST(Vendor, BiasGeluOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> y(1);
  for (const std::string_view variant : bias_gelu_variants(Gelu::erf, Dtype::f32))
    bias_gelu(variant, Gelu::erf, Dtype::f32, nullptr, nullptr, y.data(), 0, 4, stream);
  EXPECT_TRUE(is_poison(download(y, stream)[0]));
}

TEST(Vendor, BiasGeluNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view known = bias_gelu_variants(Gelu::erf, Dtype::f32).front();
  const auto run = [&](std::string_view variant, const float* bias, std::int64_t rows) {
    bias_gelu(variant, Gelu::erf, Dtype::f32, p, bias, p, rows, 4, stream);
  };
  expect_error([&] { run("cufft", p, 1); }, "use one of: " + std::string(known));
  expect_error([&] { run(known, p, -1); }, "rows is -1");
  expect_error([&] { run(known, nullptr, 1); }, "bias is null");
}

} // namespace
} // namespace kg::vendor
