// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/reduction/reduction.h"

#include <fmt/format.h>

#include <algorithm>

namespace kg::vendor {
namespace {

constexpr std::array kOps = {Reduce::sum, Reduce::mean, Reduce::max, Reduce::min};
constexpr std::array kTypes = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32};

TEST(Vendor, ReductionsExist) {
  for (const Reduce op : kOps)
    for (const ReductionProblem& problem : {ReductionProblem{op, Dtype::f32, 1, 64, 1},
                                            {op, Dtype::f32, 64, 64, 1},
                                            {op, Dtype::f32, 1, 64, 64},
                                            {op, Dtype::f32, 64, 64, 64}})
      EXPECT_FALSE(reduction_variants(problem).empty()) << fmt::underlying(op);
  EXPECT_FALSE(reduction_variants({Reduce::sum, Dtype::i32, 1, 64, 1}).empty());
  EXPECT_TRUE(reduction_variants({Reduce::max, Dtype::i32, 1, 64, 1}).empty());
}

// Means over a power of two.
TEST(Vendor, ReductionReducesTheMiddleExtent) {
  Stream stream;
  struct Shape {
    std::int64_t outer, axis, inner;
  };
  for (const Reduce op : kOps)
    for (const Dtype dtype : kTypes)
      for (const auto& [outer, axis, inner] :
           {Shape{1, 1, 1}, {1, 16, 1}, {3, 4, 1}, {67, 128, 1}, {1, 64, 130}, {5, 8, 3}}) {
        const ReductionProblem problem{op, dtype, outer, axis, inner};
        std::vector<double> x;
        for (std::int64_t i = 0; i < outer * axis * inner; ++i)
          x.push_back(small_integer(static_cast<std::size_t>(i)));
        std::vector<double> expected;
        for (std::int64_t o = 0; o < outer; ++o)
          for (std::int64_t i = 0; i < inner; ++i) {
            double sum = 0, largest = -100, smallest = 100;
            for (std::int64_t a = 0; a < axis; ++a) {
              const double value = x[static_cast<std::size_t>((o * axis + a) * inner + i)];
              sum += value;
              largest = std::max(largest, value);
              smallest = std::min(smallest, value);
            }
            expected.push_back(op == Reduce::sum    ? sum
                               : op == Reduce::mean ? sum / static_cast<double>(axis)
                               : op == Reduce::max  ? largest
                                                    : smallest);
          }
        for (const std::string_view variant : reduction_variants(problem)) {
          SCOPED_TRACE(fmt::format("{} {} {} {} x {} x {}", variant, name(dtype),
                                   fmt::underlying(op), outer, axis, inner));
          const Bytes device_x = upload(dtype, x, stream);
          Bytes out(expected.size() * size_of(dtype));
          reduction(variant, problem, device_x.data(), out.data(), stream);
          EXPECT_EQ(download(dtype, out, stream), expected);
        }
      }
}

TEST(Vendor, ReductionsOfNothing) {
  Stream stream;
  for (const ReductionProblem& problem :
       {ReductionProblem{Reduce::sum, Dtype::f32, 3, 0, 1}, {Reduce::sum, Dtype::f32, 1, 0, 3}})
    for (const std::string_view variant : reduction_variants(problem)) {
      DeviceBuffer<float> out(3);
      reduction(variant, problem, nullptr, out.data(), stream);
      EXPECT_EQ(download(out, stream), std::vector<float>(3, 0.0F)) << variant;
      ReductionProblem mean = problem;
      mean.op = Reduce::mean;
      expect_error([&] { reduction(variant, mean, nullptr, out.data(), stream); }, "axis is 0");
    }
}

TEST(Vendor, ReductionListsItsVariants) {
  Stream stream;
  const ReductionProblem problem{Reduce::sum, Dtype::f32, 8, 8, 1};
  expect_error([&] { reduction("cufft", problem, nullptr, nullptr, stream); },
               "use one of: " + std::string(reduction_variants(problem).front()));
}

} // namespace
} // namespace kg::vendor
