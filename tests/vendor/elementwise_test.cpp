// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/elementwise/elementwise.h"

#include <fmt/format.h>

#include <cmath>

namespace kg::vendor {
namespace {

constexpr std::array kBinaries = {Binary::add, Binary::sub, Binary::mul, Binary::div};

double apply(Binary op, double a, double b) {
  const std::array results = {a + b, a - b, a * b, a / b}; // in the order of Binary
  return results[static_cast<std::size_t>(op)];
}

TEST(Vendor, ElementwiseHasOnlyTheSumOfF64AndI32) {
  for (const Binary op : kBinaries) {
    EXPECT_FALSE(elementwise_variants(op, Dtype::f32).empty());
    EXPECT_EQ(elementwise_variants(op, Dtype::f64).empty(), op != Binary::add);
    EXPECT_EQ(elementwise_variants(op, Dtype::i32).empty(), op != Binary::add);
  }
}

TEST(Vendor, ElementwiseGivesTheExactResult) {
  Stream stream;
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f64, Dtype::i32})
    for (const Binary op : kBinaries)
      for (const std::string_view variant : elementwise_variants(op, dtype))
        for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{4099}}) {
          SCOPED_TRACE(
              fmt::format("{} {} op {} n {}", variant, name(dtype), fmt::underlying(op), n));
          std::vector<double> a(n), b(n), expected(n);
          for (std::size_t i = 0; i < n; ++i) {
            a[i] = small_integer(i);
            // 1/4 to 4; integers have no fractions
            const int exponent = static_cast<int>(i % 5) - (dtype == Dtype::i32 ? 0 : 2);
            b[i] = std::ldexp(i % 2 ? -1 : 1, exponent);
            expected[i] = apply(op, a[i], b[i]);
          }
          const Bytes device_a = upload(dtype, a, stream);
          const Bytes device_b = upload(dtype, b, stream);
          Bytes out(n * size_of(dtype));
          elementwise(variant, op, dtype, device_a.data(), device_b.data(), out.data(),
                      static_cast<std::int64_t>(n), stream);
          EXPECT_EQ(download(dtype, out, stream), expected);
        }
}

TEST(Vendor, ElementwiseOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : elementwise_variants(Binary::add, Dtype::f32))
    elementwise(variant, Binary::add, Dtype::f32, nullptr, nullptr, out.data(), 0, stream);
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, ElementwiseNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view adder = elementwise_variants(Binary::add, Dtype::f32).front();
  expect_error(
      [&] { elementwise("cufft", Binary::add, Dtype::f32, nullptr, nullptr, nullptr, 0, stream); },
      "use one of: " + std::string(adder));
  expect_error([&] { elementwise(adder, Binary::add, Dtype::f32, p, p, p, -1, stream); },
               "n is -1");
  expect_error([&] { elementwise(adder, Binary::add, Dtype::f32, p, nullptr, p, 4, stream); },
               "b is null");
}

} // namespace
} // namespace kg::vendor
