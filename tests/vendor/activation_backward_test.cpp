// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_unary.h"
#include "tests/vendor/data.h"
#include "vendor/activation_backward/activation_backward.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

struct Pair {
  Activation function;
  test::UnaryOp oracle;
};
constexpr std::array kActivations = {Pair{Activation::relu, test::UnaryOp::relu},
                                     Pair{Activation::sigmoid, test::UnaryOp::sigmoid},
                                     Pair{Activation::tanh, test::UnaryOp::tanh},
                                     Pair{Activation::gelu, test::UnaryOp::gelu},
                                     Pair{Activation::gelu_tanh, test::UnaryOp::gelu_tanh},
                                     Pair{Activation::silu, test::UnaryOp::silu}};

TEST(Vendor, ActivationBackwardExistsInF32AndNotInI32) {
  for (const auto& [function, oracle] : kActivations) {
    EXPECT_FALSE(activation_backward_variants(function, Dtype::f32).empty()) << name(function);
    EXPECT_TRUE(activation_backward_variants(function, Dtype::i32).empty()) << name(function);
  }
}

// Closer than any two of the slopes are to each other: in f32 the two gelus' differ by 10^-3.
TEST(Vendor, ActivationBackwardIsOfTheFunctionThatWasAskedFor) {
  Stream stream;
  for (const Dtype dtype : kFloats)
    for (const auto& [function, oracle] : kActivations)
      for (const std::string_view variant : activation_backward_variants(function, dtype))
        for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{4099}}) {
          SCOPED_TRACE(fmt::format("{} {} {} n {}", variant, name(dtype), name(function), n));
          std::vector<double> x(n), dy(n);
          for (std::size_t i = 0; i < n; ++i) {
            x[i] = -0.5 * small_integer(i);
            dy[i] = i % 2 ? -2 : 1;
          }
          std::vector<double> y = test::unary_oracle(oracle, x);
          for (double& value : y) value = test::round_to(dtype, value);
          const std::vector<double> expected = test::unary_backward_oracle(oracle, x, dy);
          const Bytes device_x = upload(dtype, x, stream);
          const Bytes device_y = upload(dtype, y, stream);
          const Bytes device_dy = upload(dtype, dy, stream);
          Bytes dx(n * size_of(dtype));
          activation_backward(variant, function, dtype, device_x.data(), device_y.data(),
                              device_dy.data(), dx.data(), static_cast<std::int64_t>(n), stream);
          const std::vector<double> actual = download(dtype, dx, stream);
          const double tolerance = dtype == Dtype::f32 ? 1e-5 : 3e-2;
          for (std::size_t i = 0; i < n; ++i)
            ASSERT_NEAR(actual[i], expected[i], tolerance) << x[i];
        }
}

TEST(Vendor, ActivationBackwardOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> dx(1);
  for (const std::string_view variant : activation_backward_variants(Activation::tanh, Dtype::f32))
    activation_backward(variant, Activation::tanh, Dtype::f32, nullptr, nullptr, nullptr, dx.data(),
                        0, stream);
  EXPECT_TRUE(is_poison(download(dx, stream)[0]));
}

TEST(Vendor, ActivationBackwardNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view known = activation_backward_variants(Activation::tanh, Dtype::f32).front();
  const auto run = [&](std::string_view variant, const float* y, std::int64_t n) {
    activation_backward(variant, Activation::tanh, Dtype::f32, p, y, p, p, n, stream);
  };
  expect_error([&] { run("cufft", p, 4); }, "use one of: " + std::string(known));
  expect_error([&] { run(known, p, -1); }, "n is -1");
  expect_error([&] { run(known, nullptr, 4); }, "y is null");
}

} // namespace
} // namespace kg::vendor
