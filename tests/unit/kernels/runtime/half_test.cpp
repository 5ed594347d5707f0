// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// half and bfloat16 of the host backend against an independent reference: values as exact doubles,
// rounded by the definition. Built twice, with and without F16C, since half's conversions have two
// ways.
#include "runtime/host/bfloat16.h"
#include "runtime/host/half.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <type_traits>

namespace {

using kg::host::Rounding;

// A format by its numbers: fraction bits and the exponents of the smallest and the largest normal
// numbers.
struct Layout {
  int fraction_bits;
  int smallest_exponent;
  int largest_exponent;
};

template <class T>
constexpr Layout kLayout = {};
template <>
constexpr Layout kLayout<__half> = {10, -14, 15};
template <>
constexpr Layout kLayout<__nv_bfloat16> = {7, -126, 127};

template <class T>
T of_bits(unsigned bits) {
  return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
}
template <class T>
unsigned bits_of(T value) {
  return std::bit_cast<std::uint16_t>(value);
}

// The value of a bit pattern.
double decode(Layout layout, unsigned bits) {
  const unsigned fraction = bits & ((1u << layout.fraction_bits) - 1);
  const int exponent = static_cast<int>((bits & 0x7fff) >> layout.fraction_bits);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == layout.largest_exponent * 2 + 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) {
    return sign * std::ldexp(fraction, layout.smallest_exponent - layout.fraction_bits);
  }
  return sign * std::ldexp(fraction + std::ldexp(1.0, layout.fraction_bits),
                           exponent + layout.smallest_exponent - 1 - layout.fraction_bits);
}

// The bit pattern of a double rounded to the format.
unsigned encode(Layout layout, double value, Rounding mode) {
  if (std::isnan(value)) return 0x7fff;
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  const unsigned infinity = (layout.largest_exponent * 2u + 1) << layout.fraction_bits;
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  // In units of the last place every representable number is an integer.
  const int exponent = std::max(std::ilogb(value), layout.smallest_exponent);
  double units = std::ldexp(value, layout.fraction_bits - exponent);
  if (mode == Rounding::nearest) units = std::nearbyint(units);
  if (mode == Rounding::zero) units = std::trunc(units);
  if (mode == Rounding::down) units = std::floor(units);
  if (mode == Rounding::up) units = std::ceil(units);
  // Patterns of one sign are ordered as their values, so a carry into the exponent needs no care.
  const auto magnitude = static_cast<unsigned>(std::fabs(units));
  const unsigned start = static_cast<unsigned>(exponent - layout.smallest_exponent)
                         << layout.fraction_bits;
  if (exponent <= layout.largest_exponent && start + magnitude < infinity) {
    return sign | (start + magnitude);
  }
  const bool towards_zero = mode == Rounding::zero || (mode == Rounding::down && sign == 0) ||
                            (mode == Rounding::up && sign != 0);
  return sign | (towards_zero ? infinity - 1 : infinity);
}

template <class T>
class Half : public testing::Test {};
using Types = testing::Types<__half, __nv_bfloat16>;
TYPED_TEST_SUITE(Half, Types);

TYPED_TEST(Half, IsTwoPlainBytes) {
  using T = TypeParam;
  static_assert(sizeof(T) == 2 && alignof(T) == 2);
  static_assert(std::is_trivial_v<T> && std::is_standard_layout_v<T>);
  using Pair = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;
  static_assert(sizeof(Pair) == 4 && alignof(Pair) == 4);
  static_assert(std::is_trivial_v<Pair> && std::is_standard_layout_v<Pair>);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(Pair(of_bits<T>(0x1234), of_bits<T>(0x5678))),
            0x56781234u);
}

TYPED_TEST(Half, EveryValueToFloatAndBack) {
  using T = TypeParam;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double value = decode(kLayout<T>, bits);
    const float converted = of_bits<T>(bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(converted)) << bits;
      ASSERT_EQ(bits_of(T(converted)), 0x7fffu) << bits;
      ASSERT_TRUE(__hisnan(of_bits<T>(bits)));
    } else {
      ASSERT_EQ(converted, value) << bits;
      ASSERT_EQ(std::signbit(converted), std::signbit(value)) << bits;
      ASSERT_EQ(bits_of(T(converted)), bits) << bits;
      ASSERT_FALSE(__hisnan(of_bits<T>(bits)));
    }
    ASSERT_EQ(__hisinf(of_bits<T>(bits)), std::isinf(value) ? (value > 0 ? 1 : -1) : 0) << bits;
  }
}

TEST(HalfConversion, NanToFloatIsCanonical) {
  const volatile std::uint16_t bits = 0xfc01;
  EXPECT_EQ(std::bit_cast<std::uint32_t>(__half2float(__ushort_as_half(bits))), 0x7fffffffu);
}

TEST(HalfConversion, PortableWayOfEveryValue) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double value = decode(kLayout<__half>, bits);
    if (std::isnan(value)) continue;
    const float converted = kg::host::Binary16::to_float_portable(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(converted, value) << bits;
    ASSERT_EQ(std::signbit(converted), std::signbit(value)) << bits;
  }
}

template <class T, Rounding mode>
unsigned rounded(float value) {
  using Format =
      std::conditional_t<std::is_same_v<T, __half>, kg::host::Binary16, kg::host::Bfloat16>;
  return Format::template from_float<mode>(value);
}

// Every float whose bits are a multiple of 997 (a prime).
TYPED_TEST(Half, FloatsRound) {
  using T = TypeParam;
  constexpr Layout layout = kLayout<T>;
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 997) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    ASSERT_EQ(bits_of(T(value)), encode(layout, value, Rounding::nearest))
        << std::hexfloat << value;
    ASSERT_EQ((rounded<T, Rounding::zero>(value)), encode(layout, value, Rounding::zero))
        << std::hexfloat << value;
    ASSERT_EQ((rounded<T, Rounding::down>(value)), encode(layout, value, Rounding::down))
        << std::hexfloat << value;
    ASSERT_EQ((rounded<T, Rounding::up>(value)), encode(layout, value, Rounding::up))
        << std::hexfloat << value;
    if constexpr (std::is_same_v<T, __half>) {
      ASSERT_EQ(kg::host::Binary16::from_float_portable<Rounding::nearest>(value),
                bits_of(T(value)))
          << std::hexfloat << value;
    }
  }
}

// Around the middle of each two neighbours, as float and as double, where a second rounding would
// show.
TYPED_TEST(Half, TiesRoundToEvenOnce) {
  using T = TypeParam;
  constexpr Layout layout = kLayout<T>;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double value = decode(layout, bits);
    const double next = decode(layout, (bits + 1) & 0xffff);
    if (!std::isfinite(value) || !std::isfinite(next)) continue;
    const double middle = value + (next - value) / 2;
    ASSERT_EQ(bits_of(T(static_cast<float>(middle))), encode(layout, middle, Rounding::nearest))
        << bits;
    for (const double wide :
         {std::nextafter(middle, value), middle, std::nextafter(middle, next)}) {
      ASSERT_EQ(bits_of(T(wide)), encode(layout, wide, Rounding::nearest)) << std::hexfloat << wide;
    }
  }
}

TYPED_TEST(Half, EndsOfTheRange) {
  using T = TypeParam;
  constexpr Layout layout = kLayout<T>;
  const unsigned infinity = bits_of(T(std::numeric_limits<float>::infinity()));
  const double largest = decode(layout, infinity - 1);
  const double limit =
      largest + std::ldexp(1.0, layout.largest_exponent - layout.fraction_bits - 1);
  EXPECT_EQ(bits_of(T(limit)), infinity);
  EXPECT_EQ(bits_of(T(std::nextafter(limit, 0))), infinity - 1);
  EXPECT_EQ(bits_of(T(-1e300)), 0x8000 | infinity);
  EXPECT_EQ(bits_of(T(-0.0f)), 0x8000u);
  const double tiny = std::ldexp(1.0, layout.smallest_exponent - layout.fraction_bits);
  EXPECT_EQ(bits_of(T(tiny)), 1u);
  EXPECT_EQ(bits_of(T(tiny / 2)), 0u);
  EXPECT_EQ(bits_of(T(std::nextafter(tiny / 2, 1))), 1u);
  EXPECT_EQ(bits_of(T(-1e-300)), 0x8000u);
  EXPECT_EQ(bits_of(T(std::numeric_limits<double>::quiet_NaN())), 0x7fffu);
}

// Double is wide enough for + - * of two halves to be exact or innocuous; the quotient's error is
// checked by multiplying back.
TYPED_TEST(Half, ArithmeticRoundsCorrectly) {
  using T = TypeParam;
  constexpr Layout layout = kLayout<T>;
  std::mt19937 random(3);
  for (int i = 0; i < 3'000'000; ++i) {
    const T a = of_bits<T>(random());
    const T b = of_bits<T>(random());
    const double x = float(a);
    const double y = float(b);
    ASSERT_EQ(bits_of(a + b), encode(layout, x + y, Rounding::nearest));
    ASSERT_EQ(bits_of(a - b), encode(layout, x - y, Rounding::nearest));
    ASSERT_EQ(bits_of(a * b), encode(layout, x * y, Rounding::nearest));
    ASSERT_EQ(bits_of(a / b), encode(layout, x / y, Rounding::nearest));
    ASSERT_EQ(a < b, x < y);
    ASSERT_EQ(a == b, x == y);
    ASSERT_EQ(a != b, x != y);
    ASSERT_EQ(a >= b, x >= y);
  }
}

// Products and quotients that are subnormal in bfloat16 are subnormal in float too, which has too
// few bits there for the argument in float16.h. So here are all of them: doubles are exact
// (products) or correctly rounded with enough bits (quotients).
TEST(Bfloat16, SubnormalResultsRoundOnce) {
  // To multiples of 2^-133, which is the last place of a sum near 2^-81.
  const auto to_grid = [](double value) { return value + 0x1.8p-81 - 0x1.8p-81; };
  const auto subnormal = [](double value) { return std::fabs(value) < 0x1p-126; };
  const auto check = [&](unsigned a_bits, unsigned b_bits) {
    const auto a = of_bits<__nv_bfloat16>(a_bits);
    const auto b = of_bits<__nv_bfloat16>(b_bits);
    const double product = static_cast<double>(float(a)) * float(b);
    const double quotient = static_cast<double>(float(a)) / float(b);
    return (!subnormal(product) || float(a * b) == to_grid(product)) &&
           (!subnormal(quotient) || float(a / b) == to_grid(quotient));
  };
  // Each pair of exponents for which either result can lie between 2^-135 and 2^-126.
  for (int p = 0; p < 255; ++p) {
    for (int q = 0; q < 255; ++q) {
      const bool product = p + q - 254 <= -125 && p + q - 254 >= -140;
      const bool quotient = p - q <= -124 && p - q >= -142;
      if (!product && !quotient && p != 0 && q != 0) continue;
      for (int i = 0; i < 128; ++i) {
        for (int j = 0; j < 128; ++j)
          ASSERT_TRUE(check(p << 7 | i, q << 7 | j)) << p << ", " << i << "; " << q << ", " << j;
      }
    }
  }
}

// a * b + c in 128-bit integers, in units of 2^-unit_bits, then rounded by the definition.
template <class T>
unsigned exact_fma(T a, T b, T c, int unit_bits) {
  __extension__ using Wide = __int128;
  const auto units = [](double value, int bits) {
    return static_cast<Wide>(std::ldexp(value, bits));
  };
  Wide sum =
      units(float(a), unit_bits / 2) * units(float(b), unit_bits / 2) + units(float(c), unit_bits);
  if (sum == 0) return bits_of(T(std::fma(float(a), float(b), float(c)))); // the sign of zero
  const bool negative = sum < 0;
  if (negative) sum = -sum;
  // 53 bits and a sticky one below them: exact for the rounding that follows.
  int shift = 0;
  bool lost = false;
  while (sum >> 52 != 0) {
    lost = lost || (sum & 1) != 0;
    sum >>= 1;
    ++shift;
  }
  const double value =
      std::ldexp(2 * static_cast<double>(sum) + (lost ? 1 : 0), shift - 1 - unit_bits);
  return encode(kLayout<T>, negative ? -value : value, Rounding::nearest);
}

TYPED_TEST(Half, FmaRoundsOnce) {
  using T = TypeParam;
  std::mt19937 random(4);
  // Exponents within what 128 bits hold: all of half; for bfloat16 2^-20 to 2^20.
  const bool is_half = std::is_same_v<T, __half>;
  const int unit_bits = is_half ? 48 : 54;
  const auto draw = [&] {
    for (;;) {
      const T value = of_bits<T>(random());
      const float size = std::fabs(float(value));
      if (std::isfinite(size) && (is_half || (size >= 0x1p-20f && size < 0x1p20f))) return value;
    }
  };
  for (int i = 0; i < 2'000'000; ++i) {
    const T a = draw();
    const T b = draw();
    const T c = draw();
    ASSERT_EQ(bits_of(__hfma(a, b, c)), exact_fma(a, b, c, unit_bits))
        << std::hexfloat << float(a) << ' ' << float(b) << ' ' << float(c);
  }
}

// Products in the middle of two neighbours, with an addend that a float, or even a double, would
// lose.
TEST(HalfFma, FailsWithTwoRoundings) {
  const __half middle = __hfma(__half(1 + 0x1p-5), __half(1 + 0x1p-6), __half(0x1p-24));
  EXPECT_EQ(float(middle), 1 + 0x1p-5f + 0x1p-6f + 0x1p-10f);
  EXPECT_EQ(float(__hfma(__half(1 + 0x1p-5), __half(1 + 0x1p-6), __half(0.0f))),
            1 + 0x1p-5f + 0x1p-6f);

  const __nv_bfloat16 tiny = 0x1p-100f;
  EXPECT_EQ(float(__hfma(__nv_bfloat16(1.0625), __nv_bfloat16(1.0625), tiny)), 1.125f + 0x1p-7f);
  EXPECT_EQ(float(__hfma(__nv_bfloat16(1.0625), __nv_bfloat16(1.0625), __nv_bfloat16(0.0f))),
            1.125f);
  EXPECT_EQ(float(__hfma(__nv_bfloat16(1.0625), __nv_bfloat16(1.1875), -tiny)), 1 + 33 * 0x1p-7f);
  EXPECT_EQ(float(__hfma(__nv_bfloat16(1.0625), __nv_bfloat16(1.1875), tiny)), 1 + 34 * 0x1p-7f);
}

TYPED_TEST(Half, FmaOfInfinitiesNansAndZeros) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<float>::infinity();
  const T zero = 0.0f;
  const T one = 1.0f;
  EXPECT_EQ(__hisinf(__hfma(infinity, one, one)), 1);
  EXPECT_EQ(__hisinf(__hfma(infinity, -one, one)), -1);
  EXPECT_EQ(bits_of(__hfma(infinity, zero, one)), 0x7fffu);
  EXPECT_EQ(bits_of(__hfma(infinity, one, -infinity)), 0x7fffu);
  EXPECT_EQ(bits_of(__hfma(-zero, one, -zero)), 0x8000u);
  EXPECT_EQ(bits_of(__hfma(one, one, -one)), 0u);
  const T largest = of_bits<T>(bits_of(infinity) - 1);
  EXPECT_EQ(bits_of(__hfma(largest, one, zero)), bits_of(largest));
  EXPECT_EQ(__hisinf(__hfma(largest, largest, -largest)), 1);
  EXPECT_EQ(bits_of(__hfma_sat(one, one, one)), bits_of(one));
  EXPECT_EQ(bits_of(__hfma_relu(one, -one, zero)), 0u);
}

} // namespace
