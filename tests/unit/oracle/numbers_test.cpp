// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/numbers.h"

#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/random.h"

namespace kg::test {
namespace {

// What e4m3 has beyond its numbers is NaN.
bool alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

class Narrow : public testing::TestWithParam<Dtype> {};

TEST_P(Narrow, every_pattern_is_its_own_rounding_and_encodes_back) {
  const Dtype dtype = GetParam();
  for (std::uint64_t bits = 0; bits >> (8 * size_of(dtype)) == 0; ++bits) {
    const double value = decode(dtype, bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(round_to(dtype, value))) << bits;
      continue;
    }
    ASSERT_EQ(round_to(dtype, value), value) << bits;
    ASSERT_EQ(encode(dtype, value), bits);
  }
}

// Between neighbours the nearer wins and the midpoint goes to the even pattern; beyond the largest
// number the neighbour is infinity, and the midpoint to it, 2^emax (2 - 2^-p), already overflows.
TEST_P(Narrow, rounds_to_nearest_even_between_all_neighbours) {
  const Dtype dtype = GetParam();
  const std::uint64_t largest = encode(dtype, max_finite(dtype));
  for (std::uint64_t bits = 0; bits <= largest; ++bits) {
    const double low = decode(dtype, bits);
    const double high = decode(dtype, bits + 1);
    const double middle = low + ulp(dtype, low) / 2;
    const double even = bits % 2 == 0 ? low : high;
    for (const double sign : {1.0, -1.0}) {
      ASSERT_TRUE(alike(round_to(dtype, sign * middle), sign * even)) << bits;
      ASSERT_EQ(round_to(dtype, sign * std::nextafter(middle, 0)), sign * low) << bits;
      const double above = round_to(dtype, sign * std::nextafter(middle, kInfinity));
      ASSERT_TRUE(alike(above, sign * high)) << bits;
    }
    ASSERT_TRUE(alike(next_away(dtype, low), high)) << bits;
  }
}

TEST_P(Narrow, zero_keeps_its_sign_also_by_underflow) {
  const Dtype dtype = GetParam();
  EXPECT_TRUE(std::signbit(round_to(dtype, -0.0)));
  EXPECT_TRUE(std::signbit(round_to(dtype, -min_subnormal(dtype) / 4)));
  EXPECT_EQ(round_to(dtype, -min_subnormal(dtype) / 4), 0);
  EXPECT_EQ(round_to(dtype, 0x1p-1074), 0);
  EXPECT_TRUE(alike(round_to(dtype, -1e300), dtype == Dtype::e4m3 ? std::nan("") : -kInfinity));
}

INSTANTIATE_TEST_SUITE_P(numbers, Narrow,
                         testing::Values(Dtype::f16, Dtype::bf16, Dtype::e4m3, Dtype::e5m2),
                         [](const auto& info) { return std::string(name(info.param)); });

// Published constants of the formats: IEEE 754-2019 table 3.5, binary32 cut to its upper half, and
// tables 1 and 2 of the OCP's 8-bit Floating Point Specification.
TEST(Numbers, known_patterns) {
  EXPECT_EQ(decode(Dtype::f16, 0x3C00), 1);
  EXPECT_EQ(decode(Dtype::f16, 0x7BFF), 65504);
  EXPECT_EQ(decode(Dtype::f16, 0x0001), 0x1p-24);
  EXPECT_EQ(decode(Dtype::f16, 0x0400), 0x1p-14);
  EXPECT_EQ(decode(Dtype::f16, 0xC000), -2);
  EXPECT_EQ(decode(Dtype::f16, 0xFC00), -kInfinity);
  EXPECT_EQ(encode(Dtype::f16, round_to(Dtype::f16, 1.0 / 3)), 0x3555u);
  EXPECT_EQ(round_to(Dtype::f16, 65519.99), 65504);
  EXPECT_EQ(round_to(Dtype::f16, 65520), kInfinity);
  EXPECT_EQ(decode(Dtype::bf16, 0x3F80), 1);
  EXPECT_EQ(encode(Dtype::bf16, round_to(Dtype::bf16, 1.0 / 3)), 0x3EABu);
  EXPECT_EQ(max_finite(Dtype::bf16), 0x1.FEp127);
  EXPECT_EQ(min_subnormal(Dtype::bf16), 0x1p-133);
  EXPECT_EQ(max_finite(Dtype::e4m3), 448);
  EXPECT_EQ(min_subnormal(Dtype::e4m3), 0x1p-9);
  EXPECT_EQ(decode(Dtype::e4m3, 0x08), 0x1p-6);
  EXPECT_TRUE(std::isnan(decode(Dtype::e4m3, 0xFF)));
  EXPECT_EQ(max_finite(Dtype::e5m2), 57344);
  EXPECT_EQ(min_subnormal(Dtype::e5m2), 0x1p-16);
  EXPECT_EQ(decode(Dtype::e5m2, 0xFC), -kInfinity);
  EXPECT_EQ(max_finite(Dtype::f32), std::numeric_limits<float>::max());
  EXPECT_EQ(min_subnormal(Dtype::f32), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(max_finite(Dtype::f64), std::numeric_limits<double>::max());
}

// The processor's own conversion is the second opinion for f32: all binades, midpoints included.
TEST(Numbers, f32_rounding_agrees_with_the_processor) {
  const Random random(seed(), 1);
  for (std::uint64_t i = 0; i < 1000000; ++i) {
    const int exponent = static_cast<int>(random.integer(i, -155, 128));
    const double wide = std::ldexp(1 + random.positive(i + (std::uint64_t{1} << 40)), exponent);
    const double middle = std::ldexp(std::rint(std::ldexp(wide, 24 - exponent)), exponent - 24);
    for (const double value : {wide, -wide, middle})
      ASSERT_EQ(round_to(Dtype::f32, value), static_cast<double>(static_cast<float>(value)))
          << std::hexfloat << value;
  }
}

TEST(Numbers, ulp_is_the_spacing) {
  EXPECT_EQ(ulp(Dtype::f32, 1), 0x1p-23);
  EXPECT_EQ(ulp(Dtype::f32, -1.999), 0x1p-23);
  EXPECT_EQ(ulp(Dtype::f32, 0), 0x1p-149);
  EXPECT_EQ(ulp(Dtype::f16, 0x1p-20), 0x1p-24);
  EXPECT_EQ(ulp(Dtype::bf16, 256), 2);
  EXPECT_EQ(ulp(Dtype::f16, 1e9), 32);
  EXPECT_EQ(ulp(Dtype::f64, 1), 0x1p-52);
  EXPECT_EQ(ulp(Dtype::f64, -0x1p-1060), 0x1p-1074); // itself no normal number
  EXPECT_EQ(ulp(Dtype::i32, 7), 1);
  EXPECT_THROW(ulp(Dtype::f32, kInfinity), Error);
}

TEST(Numbers, i32_is_exact_and_bounded) {
  EXPECT_EQ(decode(Dtype::i32, 0xFFFFFFFF), -1);
  EXPECT_EQ(encode(Dtype::i32, -2), 0xFFFFFFFEu);
  EXPECT_EQ(round_to(Dtype::i32, 2.5), 2);
  EXPECT_THROW(round_to(Dtype::i32, 0x1p31), Error);
  EXPECT_THROW(encode(Dtype::i32, 0.5), Error);
}

TEST(Numbers, u32_is_exact_and_bounded) {
  EXPECT_EQ(decode(Dtype::u32, 0xFFFFFFFF), 0x1p32 - 1);
  EXPECT_EQ(encode(Dtype::u32, 0x1p31), 0x80000000u);
  EXPECT_THROW(encode(Dtype::u32, -1), Error);
  EXPECT_THROW(round_to(Dtype::u32, 0x1p32), Error);
}

// Doubles hold 53 bits of it.
TEST(Numbers, i64_is_exact_as_far_as_doubles_are) {
  EXPECT_EQ(decode(Dtype::i64, ~std::uint64_t{0}), -1);
  EXPECT_EQ(encode(Dtype::i64, -0x1p63), std::uint64_t{1} << 63);
  EXPECT_EQ(encode(Dtype::i64, 0x1p53 - 1), (std::uint64_t{1} << 53) - 1);
  EXPECT_THROW(encode(Dtype::i64, 0x1p63), Error);
  const double last = decode(Dtype::i64, ~std::uint64_t{0} >> 1);
  EXPECT_EQ(round_to(Dtype::i64, last), last);
  EXPECT_EQ(ulp(Dtype::i64, 0x1p53 - 1), 1);
  EXPECT_NE(next_away(Dtype::i64, 0x1p60), 0x1p60);
}

TEST(Numbers, i8_is_exact_and_bounded) {
  EXPECT_EQ(decode(Dtype::i8, 0x80), -128);
  EXPECT_EQ(encode(Dtype::i8, -2), 0xFEu);
  EXPECT_EQ(round_to(Dtype::i8, 127.4), 127);
  EXPECT_THROW(round_to(Dtype::i8, 127.5), Error);
  EXPECT_THROW(encode(Dtype::i8, std::nan("")), Error);
  EXPECT_EQ(poison_bits(Dtype::i8), 0xFFu);
  EXPECT_EQ(raw_bits(from_raw_bits<std::int8_t>(0x8F)), 0x8Fu);
}

TEST(Numbers, encoding_refuses_to_round) {
  EXPECT_THROW(encode(Dtype::f16, 1 + 0x1p-12), Error);
  EXPECT_THROW(encode(Dtype::f32, 1e300), Error);
  EXPECT_EQ(encode(Dtype::f16, -kInfinity), 0xFC00u);
  EXPECT_TRUE(std::isnan(decode(Dtype::bf16, encode(Dtype::bf16, std::nan("")))));
}

TEST(Numbers, elements_are_observed_by_value_and_by_bits) {
  const std::vector<float> stored = {1.5F, -0.0F, std::bit_cast<float>(0x7FC00123U)};
  const Observed seen = observe(stored);
  EXPECT_EQ(seen.dtype, Dtype::f32);
  EXPECT_EQ(seen.values[0], 1.5);
  EXPECT_TRUE(std::signbit(seen.values[1]));
  EXPECT_EQ(seen.bits, (std::vector<std::uint64_t>{0x3FC00000, 0x80000000, 0x7FC00123}));
  EXPECT_EQ(observe(elements_of_bits<float>(seen.bits)).bits, seen.bits);
  EXPECT_EQ(elements<std::int32_t>(std::vector<double>{3, -4}), (std::vector<std::int32_t>{3, -4}));
  EXPECT_EQ(raw_bits(-1.0), 0xBFF0000000000000u);
}

TEST(Numbers, bytes_of_each_width_come_back) {
  for (const Dtype dtype :
       {Dtype::i8, Dtype::f16, Dtype::bf16, Dtype::i32, Dtype::f32, Dtype::f64}) {
    const std::vector<double> values = {-3, 0, 1, 100};
    std::vector<std::byte> bytes(values.size() * size_of(dtype));
    encode_bytes(dtype, values, bytes);
    Observed seen = observe_bytes(dtype, bytes);
    append_bytes(seen, std::span(bytes).first(size_of(dtype)));
    EXPECT_EQ(seen.values, (std::vector<double>{-3, 0, 1, 100, -3})) << name(dtype);
    EXPECT_EQ(seen.bits[3], encode(dtype, 100)) << name(dtype);
    EXPECT_EQ(seen.bits[4], encode(dtype, -3)) << name(dtype);
    EXPECT_THROW(encode_bytes(dtype, values, std::span(bytes).subspan(1)), Error);
  }
  std::vector<std::byte> bytes(2);
  EXPECT_THROW(encode_bytes(Dtype::f16, std::vector<double>{1 + 0x1p-12}, bytes), Error);
}

// A type of two bytes as the device runtimes have: one line makes it known.
struct MyHalf {
  std::uint16_t bits;
};

} // namespace

template <>
struct DtypeOf<MyHalf> {
  static constexpr Dtype value = Dtype::f16;
};

namespace {

TEST(Numbers, a_foreign_half_type_needs_only_its_dtype) {
  EXPECT_EQ(to_double(MyHalf{0x3C01}), 1 + 0x1p-10);
  EXPECT_EQ(elements<MyHalf>(std::vector<double>{-2})[0].bits, 0xC000);
  EXPECT_EQ(poison_bits(DtypeOf<MyHalf>::value), 0xFFFFu);
  EXPECT_TRUE(std::isnan(to_double(MyHalf{0xFFFF})));
}

TEST(Numbers, tf32_keeps_eleven_bits_and_rounds_ties_away) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {1 + 0x1p-10, 1 + 0x1p-11, -1 - 0x1p-11, 1 + 0x1.8p-12,
                                 0x1p-126,    0.0,         -0.0,         inf};
  const std::vector<double> expected = {1 + 0x1p-10, 1 + 0x1p-10, -1 - 0x1p-10, 1,
                                        0x1p-126,    0.0,         -0.0,         inf};
  EXPECT_EQ(tf32_rounded(x), expected);
  EXPECT_TRUE(std::isnan(tf32_rounded(std::vector<double>{std::nan("")})[0]));
}

} // namespace
} // namespace kg::test
