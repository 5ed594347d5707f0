// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/reduction/reduction.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

constexpr std::array kAxes = {SumAxis::all, SumAxis::rows, SumAxis::columns};

TEST(Vendor, ReductionExists) {
  for (const SumAxis axis : kAxes) EXPECT_FALSE(reduction_variants(axis).empty());
}

TEST(Vendor, ReductionSumsTheChosenAxis) {
  Stream stream;
  struct Shape {
    std::int64_t rows, cols;
  };
  for (const SumAxis axis : kAxes)
    for (const std::string_view variant : reduction_variants(axis))
      for (const auto& [rows, cols] : {Shape{1, 1}, {3, 5}, {67, 130}, {1, 9}, {9, 1}}) {
        SCOPED_TRACE(fmt::format("{} axis {} {} x {}", variant, fmt::underlying(axis), rows, cols));
        const std::vector<float> x = small_integers(static_cast<std::size_t>(rows * cols));
        const std::int64_t results = axis == SumAxis::all ? 1 : axis == SumAxis::rows ? rows : cols;
        std::vector<float> expected(static_cast<std::size_t>(results));
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < cols; ++j) {
            const std::int64_t result = axis == SumAxis::all ? 0 : axis == SumAxis::rows ? i : j;
            expected[static_cast<std::size_t>(result)] += x[static_cast<std::size_t>(i * cols + j)];
          }
        const auto device_x = DeviceBuffer<float>::from_host(x, stream);
        DeviceBuffer<float> out(expected.size());
        reduction(variant, axis, device_x.data(), rows, cols, out.data(), stream);
        EXPECT_EQ(download(out, stream), expected);
      }
}

TEST(Vendor, EmptySumsAreZero) {
  Stream stream;
  for (const SumAxis axis : kAxes)
    for (const std::string_view variant : reduction_variants(axis)) {
      const bool of_rows = axis == SumAxis::rows;
      const std::vector<float> zeros(axis == SumAxis::all ? 1 : 3, 0.0F);
      DeviceBuffer<float> out(zeros.size());
      reduction(variant, axis, nullptr, of_rows ? 3 : 0, of_rows ? 0 : 3, out.data(), stream);
      EXPECT_EQ(download(out, stream), zeros) << variant << " axis " << fmt::underlying(axis);
    }
}

TEST(Vendor, ReductionListsItsVariants) {
  Stream stream;
  expect_error([&] { reduction("cufft", SumAxis::rows, nullptr, 0, 0, nullptr, stream); },
               "use one of: " + std::string(reduction_variants(SumAxis::rows).front()));
}

} // namespace
} // namespace kg::vendor
