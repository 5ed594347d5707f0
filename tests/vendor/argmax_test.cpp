// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/argmax/argmax.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

TEST(Vendor, ArgmaxExists) { EXPECT_FALSE(argmax_variants({Dtype::f32, 1, 64, 1}).empty()); }

// Small integers, with many ties.
TEST(Vendor, ArgmaxFindsTheFirstLargest) {
  Stream stream;
  struct Shape {
    std::int64_t outer, axis, inner;
  };
  for (const Dtype dtype : kFloats)
    for (const auto& [outer, axis, inner] :
         {Shape{1, 1, 1}, {1, 500, 1}, {3, 5, 1}, {1, 64, 130}, {5, 8, 3}}) {
      const ArgmaxProblem problem{dtype, outer, axis, inner};
      std::vector<double> x;
      for (std::int64_t i = 0; i < outer * axis * inner; ++i)
        x.push_back(small_integer(static_cast<std::size_t>(i)));
      std::vector<std::int32_t> expected;
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < inner; ++i) {
          const auto at = [&](std::int64_t a) {
            return x[static_cast<std::size_t>((o * axis + a) * inner + i)];
          };
          std::int64_t first = 0;
          for (std::int64_t a = 1; a < axis; ++a)
            if (at(a) > at(first)) first = a;
          expected.push_back(static_cast<std::int32_t>(first));
        }
      for (const std::string_view variant : argmax_variants(problem)) {
        SCOPED_TRACE(fmt::format("{} {} {} x {} x {}", variant, name(dtype), outer, axis, inner));
        const Bytes device_x = upload(dtype, x, stream);
        const DeviceBuffer<std::int32_t> out(expected.size());
        argmax(variant, problem, device_x.data(), out.data(), stream);
        EXPECT_EQ(out.to_host(stream), expected);
        out.check_guards();
      }
    }
}

TEST(Vendor, ArgmaxOfNothingIsAnError) {
  Stream stream;
  const ArgmaxProblem problem{Dtype::f32, 1, 0, 1};
  for (const std::string_view variant : argmax_variants(problem))
    expect_error([&] { argmax(variant, problem, nullptr, nullptr, stream); }, "axis is 0");
}

} // namespace
} // namespace kg::vendor
