// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_unary.h"
#include "tests/vendor/data.h"
#include "vendor/activation/activation.h"

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

TEST(Vendor, ActivationExistsInF32AndNotInI32) {
  for (const auto& [function, oracle] : kActivations) {
    EXPECT_FALSE(activation_variants(function, Dtype::f32).empty()) << name(function);
    EXPECT_TRUE(activation_variants(function, Dtype::i32).empty()) << name(function);
  }
}

// Closer than any two of the functions are to each other: in f32 the two gelus differ by 5 10^-4.
TEST(Vendor, ActivationIsTheFunctionThatWasAskedFor) {
  Stream stream;
  for (const Dtype dtype : kFloats)
    for (const auto& [function, oracle] : kActivations)
      for (const std::string_view variant : activation_variants(function, dtype))
        for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{4099}}) {
          SCOPED_TRACE(fmt::format("{} {} {} n {}", variant, name(dtype), name(function), n));
          std::vector<double> x(n);
          for (std::size_t i = 0; i < n; ++i) x[i] = -0.5 * small_integer(i);
          const std::vector<double> expected = test::unary_oracle(oracle, x);
          const Bytes device_x = upload(dtype, x, stream);
          Bytes y(n * size_of(dtype));
          activation(variant, function, dtype, device_x.data(), y.data(),
                     static_cast<std::int64_t>(n), stream);
          const std::vector<double> actual = download(dtype, y, stream);
          const double tolerance = dtype == Dtype::f32 ? 1e-5 : 1e-2;
          for (std::size_t i = 0; i < n; ++i)
            ASSERT_NEAR(actual[i], expected[i], tolerance) << x[i];
        }
}

TEST(Vendor, ActivationOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> y(1);
  for (const std::string_view variant : activation_variants(Activation::tanh, Dtype::f32))
    activation(variant, Activation::tanh, Dtype::f32, nullptr, y.data(), 0, stream);
  EXPECT_TRUE(is_poison(download(y, stream)[0]));
}

TEST(Vendor, ActivationNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view known = activation_variants(Activation::tanh, Dtype::f32).front();
  expect_error(
      [&] { activation("cufft", Activation::tanh, Dtype::f32, nullptr, nullptr, 0, stream); },
      "use one of: " + std::string(known));
  expect_error([&] { activation(known, Activation::tanh, Dtype::f32, p, p, -1, stream); },
               "n is -1");
  expect_error([&] { activation(known, Activation::tanh, Dtype::f32, p, nullptr, 4, stream); },
               "y is null");
}

} // namespace
} // namespace kg::vendor
