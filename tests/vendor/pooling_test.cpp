// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/pooling_problems.h"
#include "tests/vendor/data.h"
#include "vendor/pooling/pooling.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

using pooling::Kind;
using pooling::kKinds;
using pooling::Problem;

const Problem kPlain{2, 3, 6, 8, {.kernel = 2, .stride = 2}, {.kernel = 2, .stride = 2}};

TEST(Vendor, PoolingExistsInF32AndNotInF64) {
  for (const Kind kind : kKinds) {
    EXPECT_FALSE(pooling_variants(kind, Dtype::f32, kPlain).empty());
    EXPECT_TRUE(pooling_variants(kind, Dtype::f64, kPlain).empty());
  }
}

// Integers whose sums are exact; the average errs by the division and its storing.
TEST(Vendor, PoolingTakesEveryWindow) {
  Stream stream;
  for (const Problem& problem : test::window_problems())
    for (const Kind kind : kKinds)
      for (const Dtype dtype : kFloats)
        for (const std::string_view variant : pooling_variants(kind, dtype, problem)) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", variant, pooling::name(kind), name(dtype),
                                   test::text(problem)));
          std::vector<double> x;
          for (std::size_t i = 0; i < static_cast<std::size_t>(problem.inputs()); ++i)
            x.push_back(small_integer(i));
          const auto window = test::oracle_problem(kind, problem);
          const auto expected =
              test::y_in_layout(kind == Kind::max ? test::max_pool_oracle(window, x).value
                                                  : test::average_pool_oracle(window, x).value,
                                problem);
          const Bytes device_x = upload(dtype, test::x_in_layout(x, problem), stream);
          Bytes y(expected.size() * size_of(dtype));
          pooling(variant, kind, dtype, problem, device_x.data(), y.data(), stream);
          const std::vector<double> result = download(dtype, y, stream);
          const double u = kind == Kind::max ? 0 : 2 * unit_roundoff(dtype);
          for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(result[i], expected[i], u * std::abs(expected[i])) << i;
        }
}

// Windows that libraries treat otherwise than kg::pooling does.
TEST(Vendor, PoolingIsNotAskedWhatItDoesOtherwise) {
  Problem more = kPlain;
  more.horizontal = {.kernel = 3, .stride = 2};
  more.ceil_mode = true;
  EXPECT_TRUE(pooling_variants(Kind::average_include_padding, Dtype::f32, more).empty());
  Problem padded = kPlain;
  padded.vertical.pad_before = 2;
  for (const Kind kind : kKinds) EXPECT_TRUE(pooling_variants(kind, Dtype::f32, padded).empty());
}

TEST(Vendor, PoolingOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  Problem nothing = kPlain;
  nothing.channels = 0;
  for (const std::string_view variant : pooling_variants(Kind::max, Dtype::f32, nothing))
    pooling(variant, Kind::max, Dtype::f32, nothing, nullptr, out.data(), stream);
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, PoolingRefusesWrongArguments) {
  Stream stream;
  const auto known = pooling_variants(Kind::max, Dtype::f32, kPlain).front();
  const auto run = [&](std::string_view variant, const Problem& problem) {
    pooling(variant, Kind::max, Dtype::f32, problem, nullptr, nullptr, stream);
  };
  expect_error([&] { run("cufft", kPlain); }, "use one of: " + std::string(known));
  expect_error([&] { run(known, kPlain); }, "pooling(max f32)");
  Problem wrong = kPlain;
  wrong.vertical.kernel = 7;
  expect_error([&] { run(known, wrong); }, "no room for a window of 7");
}

} // namespace
} // namespace kg::vendor
