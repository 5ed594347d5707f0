// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/pooling_problems.h"
#include "tests/vendor/data.h"
#include "vendor/pooling/pooling.h"
#include "vendor/pooling_backward/pooling_backward.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

using pooling::Kind;
using pooling::kKinds;
using pooling::Problem;

const Problem kPlainGradient{2, 3, 6, 8, {.kernel = 2, .stride = 2}, {.kernel = 2, .stride = 2}};

TEST(Vendor, PoolingBackwardExistsInF32AndNotInF64) {
  for (const Kind kind : kKinds) {
    EXPECT_FALSE(pooling_backward_variants(kind, Dtype::f32, kPlainGradient).empty());
    EXPECT_TRUE(pooling_backward_variants(kind, Dtype::f64, kPlainGradient).empty());
  }
}

// Integers, many of them equal maxima. The gradient of an average is wrong by some roundings of its
// shares.
TEST(Vendor, PoolingBackwardReachesEveryWindow) {
  Stream stream;
  for (const Problem& problem : test::window_problems())
    for (const Kind kind : kKinds)
      for (const Dtype dtype : kFloats)
        for (const std::string_view variant : pooling_backward_variants(kind, dtype, problem)) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", variant, pooling::name(kind), name(dtype),
                                   test::text(problem)));
          const auto integers = [](std::int64_t count, std::size_t first) {
            std::vector<double> values;
            for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
              values.push_back(small_integer(first + i));
            return values;
          };
          const auto x = integers(problem.inputs(), 0);
          const auto dy = integers(problem.outputs(), 5);
          const auto window = test::oracle_problem(kind, problem);
          const auto gradient = kind == Kind::max ? test::max_pool_gradient_oracle(window, x, dy)
                                                  : test::average_pool_gradient_oracle(window, dy);
          const auto expected = test::x_in_layout(gradient.value, problem);
          const auto sum_abs = test::x_in_layout(gradient.sum_abs, problem);
          const Bytes device_x = upload(dtype, test::x_in_layout(x, problem), stream);
          const Bytes device_dy = upload(dtype, test::y_in_layout(dy, problem), stream);
          Bytes y(device_dy.size()), dx(device_x.size());
          pooling(variant, kind, dtype, problem, device_x.data(), y.data(), stream);
          pooling_backward(variant, kind, dtype, problem,
                           {device_x.data(), y.data(), device_dy.data(), dx.data()}, stream);
          const std::vector<double> result = download(dtype, dx, stream);
          const double u = kind == Kind::max ? 0 : 8 * unit_roundoff(dtype);
          for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(result[i], expected[i], u * sum_abs[i]) << i;
        }
}

TEST(Vendor, PoolingBackwardOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  Problem nothing = kPlainGradient;
  nothing.channels = 0;
  for (const std::string_view variant : pooling_backward_variants(Kind::max, Dtype::f32, nothing))
    pooling_backward(variant, Kind::max, Dtype::f32, nothing,
                     {nullptr, nullptr, nullptr, out.data()}, stream);
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, PoolingBackwardRefusesWrongArguments) {
  Stream stream;
  const auto known = pooling_backward_variants(Kind::max, Dtype::f32, kPlainGradient).front();
  const auto run = [&](std::string_view variant, const Problem& problem) {
    pooling_backward(variant, Kind::max, Dtype::f32, problem, {nullptr, nullptr, nullptr, nullptr},
                     stream);
  };
  expect_error([&] { run("cufft", kPlainGradient); }, "use one of: " + std::string(known));
  expect_error([&] { run(known, kPlainGradient); }, "pooling_backward(max f32)");
  Problem wrong = kPlainGradient;
  wrong.vertical.kernel = 7;
  expect_error([&] { run(known, wrong); }, "no room for a window of 7");
}

} // namespace
} // namespace kg::vendor
