// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_layout.h"
#include "tests/vendor/data.h"
#include "vendor/permute/permute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::vendor {
namespace {

TEST(Vendor, PermuteMovesAxes) {
  Stream stream;
  struct Problem {
    std::vector<std::int64_t> shape;
    std::vector<int> order;
  };
  for (const Dtype dtype : {Dtype::i8, Dtype::f16, Dtype::f32, Dtype::f64})
    for (const auto& [shape, order] :
         {Problem{{7}, {0}}, Problem{{5, 3}, {1, 0}}, Problem{{2, 3, 4}, {2, 0, 1}},
          Problem{{2, 3, 4, 5}, {0, 2, 3, 1}}, Problem{{2, 3, 1, 4, 5}, {4, 2, 0, 3, 1}}})
      for (const std::string_view variant : permute_variants(dtype)) {
        SCOPED_TRACE(fmt::format("{} {} {} {}", variant, name(dtype), shape, order));
        std::vector<double> x;
        for (std::int64_t i = 0; i < test::element_count(shape); ++i)
          x.push_back(static_cast<double>(i));
        const Bytes device_x = upload(dtype, x, stream);
        const Bytes y(device_x.size());
        permute(variant, dtype, shape, order, device_x.data(), y.data(), stream);
        EXPECT_EQ(download(dtype, y, stream), test::permute_oracle(x, shape, order));
      }
}

TEST(Vendor, PermuteOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  ASSERT_FALSE(permute_variants(Dtype::f32).empty());
  const std::vector<std::int64_t> shape = {3, 0};
  const std::vector<int> order = {1, 0};
  for (const std::string_view variant : permute_variants(Dtype::f32))
    permute(variant, Dtype::f32, shape, order, nullptr, out.data(), stream);
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, PermuteNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  const auto call = [&](std::vector<std::int64_t> shape, std::vector<int> order) {
    permute("thrust", Dtype::f32, shape, order, memory.data(), memory.data() + 8, stream);
  };
  expect_error([&] { call({}, {}); }, "shape has 0 extents");
  expect_error([&] { call({2, -1}, {0, 1}); }, "an extent of x is -1");
  expect_error([&] { call({2, 3}, {0, 0}); }, "order is no permutation");
  expect_error([&] { call({2, 3}, {0}); }, "order is no permutation");
}

} // namespace
} // namespace kg::vendor
