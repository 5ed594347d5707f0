// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_gated_activation.h"
#include "tests/vendor/data.h"
#include "vendor/gated_activation_backward/gated_activation_backward.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

constexpr std::array kGates = {Activation::silu, Activation::gelu, Activation::relu};
constexpr std::array kOracles = {test::UnaryOp::silu, test::UnaryOp::gelu, test::UnaryOp::relu};

TEST(Vendor, GatedActivationBackwardExistsInF32AndNotInI32) {
  for (const Activation gate : kGates) {
    EXPECT_FALSE(gated_activation_backward_variants(gate, Dtype::f32).empty());
    EXPECT_TRUE(gated_activation_backward_variants(gate, Dtype::i32).empty());
  }
}

TEST(Vendor, GatedActivationBackwardWritesBothHalvesOfEachRow) {
  Stream stream;
  constexpr std::size_t kRows = 5;
  for (const Dtype dtype : kFloats)
    for (std::size_t g = 0; g < kGates.size(); ++g)
      for (const std::string_view variant : gated_activation_backward_variants(kGates[g], dtype))
        for (const std::size_t cols : {std::size_t{1}, std::size_t{7}, std::size_t{260}}) {
          SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), cols));
          std::vector<double> x(kRows * 2 * cols), dy(kRows * cols);
          for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.5 * small_integer(i);
          for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = 0.5 * small_integer(i + 5);
          const auto width = static_cast<std::int64_t>(cols);
          const auto expected = test::side_by_side(
              test::gated_gradients_oracle(kOracles[g], test::halves_of(x, width), dy), width);
          const Bytes device_x = upload(dtype, x, stream);
          const Bytes device_dy = upload(dtype, dy, stream);
          Bytes dx(device_x.size());
          gated_activation_backward(variant, kGates[g], dtype, device_x.data(), device_dy.data(),
                                    dx.data(), kRows, width, stream);
          const std::vector<double> actual = download(dtype, dx, stream);
          const double tolerance = dtype == Dtype::f32 ? 1e-5 : 8e-2;
          for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(actual[i], expected[i], tolerance) << i;
        }
}

TEST(Vendor, GatedActivationBackwardOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> dx(1);
  for (const std::string_view variant :
       gated_activation_backward_variants(Activation::silu, Dtype::f32))
    gated_activation_backward(variant, Activation::silu, Dtype::f32, nullptr, nullptr, dx.data(), 0,
                              4, stream);
  EXPECT_TRUE(is_poison(download(dx, stream)[0]));
}

TEST(Vendor, GatedActivationBackwardNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(32);
  float* const p = memory.data();
  const std::string_view known =
      gated_activation_backward_variants(Activation::silu, Dtype::f32).front();
  const auto run = [&](std::string_view variant, const float* dy, std::int64_t rows) {
    gated_activation_backward(variant, Activation::silu, Dtype::f32, p, dy, p + 16, rows, 4,
                              stream);
  };
  expect_error([&] { run("cufft", p, 1); }, "use one of: " + std::string(known));
  expect_error([&] { run(known, p, -1); }, "rows is -1");
  expect_error([&] { run(known, nullptr, 1); }, "dy is null");
}

} // namespace
} // namespace kg::vendor
