// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/broadcast/broadcast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace kg::vendor {
namespace {

constexpr std::array kBinaries = {Binary::add, Binary::sub, Binary::mul, Binary::div};

constexpr std::array kShapes = {
    BroadcastShapes{{1, 1, 1, 7, 33}, {1, 1, 1, 1, 33}},  // bias
    BroadcastShapes{{1, 2, 3, 5, 7}, {1, 1, 3, 1, 1}},    // channels
    BroadcastShapes{{1, 1, 1, 1, 1}, {1, 1, 1, 9, 17}},   // a scalar
    BroadcastShapes{{1, 1, 1, 13, 1}, {1, 1, 1, 1, 19}},  // outer product
    BroadcastShapes{{2, 1, 3, 1, 5}, {1, 4, 3, 2, 5}},    // both repeated
    BroadcastShapes{{1, 1, 1, 1, 101}, {1, 1, 1, 1, 101}} // neither
};

double apply(Binary op, double a, double b) {
  const std::array results = {a + b, a - b, a * b, a / b}; // in the order of Binary
  return results[static_cast<std::size_t>(op)];
}

TEST(Vendor, BroadcastExistsInF32AndNotInI32) {
  for (const BroadcastShapes& shapes : kShapes) {
    EXPECT_FALSE(broadcast_variants(Binary::add, Dtype::f32, shapes).empty());
    EXPECT_TRUE(broadcast_variants(Binary::add, Dtype::i32, shapes).empty());
  }
}

TEST(Vendor, BroadcastGivesTheExactResult) {
  Stream stream;
  for (const Dtype dtype : kFloats)
    for (const Binary op : kBinaries)
      for (const BroadcastShapes& shapes : kShapes)
        for (const std::string_view variant : broadcast_variants(op, dtype, shapes)) {
          SCOPED_TRACE(fmt::format("{} {} op {} a {} b {}", variant, name(dtype),
                                   fmt::underlying(op), shapes.a, shapes.b));
          std::vector<double> a(static_cast<std::size_t>(element_count(shapes.a)));
          std::vector<double> b(static_cast<std::size_t>(element_count(shapes.b)));
          for (std::size_t i = 0; i < a.size(); ++i) a[i] = small_integer(i);
          for (std::size_t i = 0; i < b.size(); ++i)
            b[i] = std::ldexp(i % 2 ? -1 : 1, static_cast<int>(i % 5) - 2); // 1/4 to 4
          // Five nested loops, which know nothing of strides that are 0.
          std::vector<double> expected;
          std::array<std::int64_t, 5> at{};
          const auto place = [&at](const std::array<std::int64_t, 5>& extents) {
            std::int64_t number = 0;
            for (std::size_t d = 0; d < 5; ++d)
              number = number * extents[d] + (extents[d] == 1 ? 0 : at[d]);
            return static_cast<std::size_t>(number);
          };
          const auto extents = result_extents(shapes);
          for (at[0] = 0; at[0] < extents[0]; ++at[0])
            for (at[1] = 0; at[1] < extents[1]; ++at[1])
              for (at[2] = 0; at[2] < extents[2]; ++at[2])
                for (at[3] = 0; at[3] < extents[3]; ++at[3])
                  for (at[4] = 0; at[4] < extents[4]; ++at[4])
                    expected.push_back(apply(op, a[place(shapes.a)], b[place(shapes.b)]));
          const Bytes device_a = upload(dtype, a, stream);
          const Bytes device_b = upload(dtype, b, stream);
          Bytes out(expected.size() * size_of(dtype));
          broadcast(variant, op, dtype, shapes, device_a.data(), device_b.data(), out.data(),
                    stream);
          EXPECT_EQ(download(dtype, out, stream), expected);
        }
}

TEST(Vendor, BroadcastNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const BroadcastShapes shapes{{1, 1, 1, 2, 3}, {1, 1, 1, 1, 3}};
  const auto call = [&](std::string_view variant, const BroadcastShapes& with, const float* b) {
    broadcast(variant, Binary::add, Dtype::f32, with, p, b, p, stream);
  };
  const std::string_view variant = broadcast_variants(Binary::add, Dtype::f32, shapes).front();
  expect_error([&] { call("cufft", shapes, p); }, "use one of: " + std::string(variant));
  expect_error([&] { call(variant, shapes, nullptr); }, "b is null");
  expect_error([&] { call(variant, {{1, 1, 1, 1, -2}, {1, 1, 1, 1, 1}}, p); }, "is -2");
  expect_error([&] { call(variant, {{1, 1, 1, 1, 2}, {1, 1, 1, 1, 3}}, p); }, "do not match");
}

} // namespace
} // namespace kg::vendor
