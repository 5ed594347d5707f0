// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/conv2d/convolutions.h"
#include "tests/vendor/data.h"
#include "vendor/conv2d/conv2d.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

using conv2d::Geometry;

const Geometry kPlain{2, 4, 6, 8, 3, {.kernel = 2}, {.kernel = 2, .stride = 2}};

std::vector<double> values(std::int64_t count, std::size_t from) {
  std::vector<double> result;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    result.push_back(small_integer(from + i));
  return result;
}

TEST(Vendor, Conv2dExistsInF32AndNotInF64) {
  EXPECT_FALSE(conv2d_variants(Dtype::f32, kPlain).empty());
  EXPECT_TRUE(conv2d_variants(Dtype::f64, kPlain).empty());
}

// Integers whose sums are exact; each is rounded once when it is stored.
TEST(Vendor, Conv2dTakesEveryGeometry) {
  Stream stream;
  for (const Geometry& g : test::convolutions())
    for (const Dtype dtype : kFloats)
      for (const std::string_view variant : conv2d_variants(dtype, g))
        for (const bool biased : {true, false}) {
          SCOPED_TRACE(fmt::format("{} {} {}", variant, name(dtype), test::text(g)));
          const auto x = values(g.inputs(), 0);
          const auto weights = values(g.weights(), 5);
          const auto bias = biased ? values(g.out_channels, 2) : std::vector<double>();
          const auto expected = test::y_in_layout(
              test::convolution_oracle(test::oracle_problem(g), x, weights, bias).value, g);
          const Bytes device_x = upload(dtype, test::x_in_layout(x, g), stream);
          const Bytes device_weights = upload(dtype, test::weights_in_layout(weights, g), stream);
          const Bytes device_bias = upload(dtype, bias, stream);
          Bytes y(expected.size() * size_of(dtype));
          conv2d(variant,
                 {dtype, g, device_x.data(), device_weights.data(),
                  biased ? device_bias.data() : nullptr, y.data()},
                 Math::pedantic, stream);
          const std::vector<double> result = download(dtype, y, stream);
          for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_EQ(result[i], test::round_to(dtype, expected[i])) << i;
        }
}

TEST(Vendor, Conv2dOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  Geometry nothing = kPlain;
  nothing.batch = 0;
  for (const std::string_view variant : conv2d_variants(Dtype::f32, nothing))
    conv2d(variant, {Dtype::f32, nothing, nullptr, nullptr, nullptr, out.data()}, Math::pedantic,
           stream);
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, Conv2dRefusesWrongArguments) {
  Stream stream;
  const auto known = conv2d_variants(Dtype::f32, kPlain).front();
  const auto run = [&](std::string_view variant, const Geometry& geometry) {
    conv2d(variant, {Dtype::f32, geometry, nullptr, nullptr, nullptr, nullptr}, Math::pedantic,
           stream);
  };
  expect_error([&] { run("cufft", kPlain); }, "use one of: " + std::string(known));
  expect_error([&] { run(known, kPlain); }, "conv2d(f32): x is null");
  Geometry wrong = kPlain;
  wrong.groups = 2;
  expect_error([&] { run(known, wrong); }, "it must divide out_channels, 3");
}

} // namespace
} // namespace kg::vendor
