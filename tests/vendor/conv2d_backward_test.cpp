// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/conv2d/convolutions.h"
#include "tests/vendor/data.h"
#include "vendor/conv2d_backward/conv2d_backward.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

using conv2d::Geometry;
using conv2d_backward::Gradient;
using conv2d_backward::kGradients;

const Geometry kGradientOf{2, 4, 6, 8, 3, {.kernel = 2}, {.kernel = 2, .stride = 2}};

std::vector<double> digits(std::int64_t count, std::size_t from) {
  std::vector<double> result;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    result.push_back(small_integer(from + i));
  return result;
}

TEST(Vendor, Conv2dBackwardExistsInF32AndNotInF64) {
  for (const Gradient gradient : kGradients) {
    EXPECT_FALSE(conv2d_backward_variants(gradient, Dtype::f32, kGradientOf).empty());
    EXPECT_TRUE(conv2d_backward_variants(gradient, Dtype::f64, kGradientOf).empty());
  }
}

// Integers whose sums are exact in f32.
TEST(Vendor, Conv2dBackwardTakesEveryGeometry) {
  Stream stream;
  constexpr Dtype kDtype = Dtype::f32;
  for (const Geometry& g : test::convolutions()) {
    const auto x = digits(g.inputs(), 0);
    const auto weights = digits(g.weights(), 5);
    const auto dy = digits(g.outputs(), 2);
    const auto right = test::convolution_gradients(test::oracle_problem(g), x, weights, dy);
    const Bytes device_x = upload(kDtype, test::x_in_layout(x, g), stream);
    const Bytes device_weights = upload(kDtype, test::weights_in_layout(weights, g), stream);
    const Bytes device_dy = upload(kDtype, test::y_in_layout(dy, g), stream);
    for (const Gradient gradient : kGradients) {
      const auto expected = gradient == Gradient::input ? test::x_in_layout(right.x.value, g)
                            : gradient == Gradient::weights
                                ? test::weights_in_layout(right.weights.value, g)
                                : right.bias.value;
      for (const std::string_view variant : conv2d_backward_variants(gradient, kDtype, g)) {
        SCOPED_TRACE(
            fmt::format("{} gradient {} {}", variant, static_cast<int>(gradient), test::text(g)));
        Bytes result(expected.size() * size_of(kDtype));
        conv2d_backward(variant,
                        {gradient, kDtype, g, device_dy.data(), device_x.data(),
                         device_weights.data(), result.data()},
                        Math::pedantic, stream);
        ASSERT_EQ(download(kDtype, result, stream), expected);
      }
    }
  }
}

TEST(Vendor, Conv2dBackwardRefusesWrongArguments) {
  Stream stream;
  const auto known = conv2d_backward_variants(Gradient::input, Dtype::f32, kGradientOf).front();
  DeviceBuffer<float> some(1);
  const auto run = [&](std::string_view variant, Gradient gradient, const Geometry& geometry) {
    conv2d_backward(variant,
                    {gradient, Dtype::f32, geometry, some.data(), nullptr, nullptr, some.data()},
                    Math::pedantic, stream);
  };
  expect_error([&] { run("cufft", Gradient::input, kGradientOf); },
               "use one of: " + std::string(known));
  expect_error([&] { run(known, Gradient::input, kGradientOf); },
               "conv2d_backward(f32): weights is null");
  expect_error([&] { run(known, Gradient::weights, kGradientOf); },
               "conv2d_backward(f32): x is null");
  Geometry wrong = kGradientOf;
  wrong.groups = 2;
  expect_error([&] { run(known, Gradient::bias, wrong); }, "it must divide out_channels, 3");
}

} // namespace
} // namespace kg::vendor
