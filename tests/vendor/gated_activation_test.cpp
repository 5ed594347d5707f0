// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_gated_activation.h"
#include "tests/vendor/data.h"
#include "vendor/gated_activation/gated_activation.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

constexpr std::array kGates = {Activation::silu, Activation::gelu, Activation::relu};
constexpr std::array kOracles = {test::UnaryOp::silu, test::UnaryOp::gelu, test::UnaryOp::relu};

TEST(Vendor, GatedActivationExistsInF32AndNotInI32) {
  for (const Activation gate : kGates) {
    EXPECT_FALSE(gated_activation_variants(gate, Dtype::f32).empty());
    EXPECT_TRUE(gated_activation_variants(gate, Dtype::i32).empty());
  }
}

TEST(Vendor, GatedActivationTakesTheFirstHalfOfEachRowAsItsGates) {
  Stream stream;
  constexpr std::size_t kRows = 5;
  for (const Dtype dtype : kFloats)
    for (std::size_t g = 0; g < kGates.size(); ++g)
      for (const std::string_view variant : gated_activation_variants(kGates[g], dtype))
        for (const std::size_t cols : {std::size_t{1}, std::size_t{7}, std::size_t{260}}) {
          SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), cols));
          std::vector<double> x(kRows * 2 * cols);
          for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.5 * small_integer(i);
          const auto width = static_cast<std::int64_t>(cols);
          const auto expected = test::gated_oracle(kOracles[g], test::halves_of(x, width));
          const Bytes device_x = upload(dtype, x, stream);
          Bytes y(kRows * cols * size_of(dtype));
          gated_activation(variant, kGates[g], dtype, device_x.data(), y.data(), kRows, width,
                           stream);
          const std::vector<double> actual = download(dtype, y, stream);
          const double tolerance = dtype == Dtype::f32 ? 1e-5 : 4e-2;
          for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(actual[i], expected[i], tolerance) << i;
        }
}

TEST(Vendor, GatedActivationOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> y(1);
  for (const std::string_view variant : gated_activation_variants(Activation::silu, Dtype::f32))
    gated_activation(variant, Activation::silu, Dtype::f32, nullptr, y.data(), 0, 4, stream);
  EXPECT_TRUE(is_poison(download(y, stream)[0]));
}

TEST(Vendor, GatedActivationNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view known = gated_activation_variants(Activation::silu, Dtype::f32).front();
  const auto run = [&](std::string_view variant, const float* x, std::int64_t rows) {
    gated_activation(variant, Activation::silu, Dtype::f32, x, p + 8, rows, 4, stream);
  };
  expect_error([&] { run("cufft", p, 1); }, "use one of: " + std::string(known));
  expect_error([&] { run(known, p, -1); }, "rows is -1");
  expect_error([&] { run(known, nullptr, 1); }, "x is null");
}

} // namespace
} // namespace kg::vendor
