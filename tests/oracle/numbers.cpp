// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include "runtime/enumerators.h"
#include "runtime/error.h"

namespace kg::test {

namespace {

// Every element of every test passes through this file several times. So powers of two are built
// and split by their bits (IEEE 754-2019, 3.4): ldexp, ilogb and nearbyint are calls.
constexpr int kBias = 1023;
constexpr int kFractionBits = 52;

constexpr double power_of_two(int exponent) { // from -1022 to 1023
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kBias) << kFractionBits);
}

// floor(log2 |value|) of a normal finite number; -1023 for zero and subnormals, which are below the
// range of every other format.
constexpr int exponent_of(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> kFractionBits & 0x7FF) - kBias;
}

// IEEE 754-2019, 3.6; bfloat16 has binary32's exponents; e4m3 and e5m2: the OCP's 8-bit Floating
// Point Specification 1.0. Integers have no precision.
constexpr FloatFormat definition_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return {24, -126, 127};
  case Dtype::f16: return {11, -14, 15};
  case Dtype::bf16: return {8, -126, 127};
  case Dtype::f64: return {53, -1022, 1023};
  case Dtype::e4m3: return {4, -6, 8};
  case Dtype::e5m2: return {3, -14, 15};
  case Dtype::i32:
  case Dtype::i8:
  case Dtype::u32:
  case Dtype::i64: break;
  }
  return {0, 0, 0};
}

// A table by Dtype: a switch for each element of each test takes a tenth of the tests' time.
constexpr auto kFormats = [] {
  std::array<FloatFormat, kMostEnumerators> formats{};
  for (std::size_t number = 0; number < formats.size(); ++number)
    formats[number] = definition_of(static_cast<Dtype>(number));
  return formats;
}();

constexpr const FloatFormat& format_of(Dtype dtype) {
  return kFormats[static_cast<std::size_t>(dtype)];
}

// e4m3's largest pattern is a NaN.
constexpr double max_of(Dtype dtype) {
  const FloatFormat format = format_of(dtype);
  const int last = dtype == Dtype::e4m3 ? 2 : 1; // in units of the last place below the next binade
  return (2 - last * power_of_two(1 - format.precision)) * power_of_two(format.max_exponent);
}

// The result of overflow: e4m3 has no infinity.
double beyond(Dtype dtype) { return dtype == Dtype::e4m3 ? kNan : kInfinity; }

// For |value| <= 2^51, ties to even: a sum near 2^52 has no fraction bits.
double nearest_integer(double value) {
  constexpr double kNoFraction = 0x1.8p52;
  return std::copysign(value + kNoFraction - kNoFraction, value);
}

// For formats without a portable C++20 type: sign, exponent (biased so that the smallest normal one
// is 1), fraction. binary16 has 5 and 10 bits of the last two, e5m2 5 and 2, e4m3 4 and 3.
double decode_narrow(Dtype dtype, std::uint64_t bits) {
  const FloatFormat format = format_of(dtype);
  const int fraction_bits = format.precision - 1;
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1), one = 1;
  const std::uint64_t magnitude_bits = bits & (sign - 1);
  const auto exponent = static_cast<int>(magnitude_bits >> fraction_bits);
  const auto fraction = static_cast<int>(magnitude_bits & ((one << fraction_bits) - 1));
  double magnitude;
  if (dtype == Dtype::e4m3 && magnitude_bits == sign - 1) {
    magnitude = kNan;
  } else if (dtype != Dtype::e4m3 && exponent > format.max_exponent - format.min_exponent + 1) {
    magnitude = fraction == 0 ? kInfinity : kNan;
  } else {
    const int significand = fraction + (exponent == 0 ? 0 : 1 << fraction_bits);
    magnitude =
        significand * power_of_two(std::max(exponent, 1) - 1 + format.min_exponent - fraction_bits);
  }
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

std::uint64_t encode_narrow(Dtype dtype, double value) {
  const FloatFormat format = format_of(dtype);
  const int fraction_bits = format.precision - 1;
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1), one = 1;
  const std::uint64_t with_sign = std::signbit(value) ? sign : 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return with_sign | (sign - (one << fraction_bits));
  const int exponent = std::max(exponent_of(magnitude), format.min_exponent);
  const auto significand =
      static_cast<std::uint64_t>(magnitude * power_of_two(fraction_bits - exponent));
  // A subnormal's significand lacks the leading bit, which would make the exponent field 1.
  return with_sign |
         ((static_cast<std::uint64_t>(exponent - format.min_exponent) << fraction_bits) +
          significand);
}

std::uint64_t quiet_nan_bits(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return 0x7FC00000;
  case Dtype::f16: return 0x7E00;
  case Dtype::bf16: return 0x7FC0;
  case Dtype::f64: return 0x7FF8000000000000;
  case Dtype::e4m3: return 0x7F;
  case Dtype::e5m2: return 0x7E;
  case Dtype::i32:
  case Dtype::i8:
  case Dtype::u32:
  case Dtype::i64: break;
  }
  fail(fmt::format("{} holds no NaN: give an integer", name(dtype)));
}

// Whether the value is in the range of a signed or unsigned integer type; not for NaN.
bool fits(Dtype dtype, double value) {
  if (dtype == Dtype::u32) return value >= 0 && value < 0x1p32;
  const double end = std::ldexp(0.5, static_cast<int>(8 * size_of(dtype)));
  return value >= -end && value < end;
}

} // namespace

FloatFormat float_format(Dtype dtype) {
  const FloatFormat format = format_of(dtype);
  if (format.precision == 0)
    fail(fmt::format("{} is not a floating-point format: give f32, f16, bf16, f64, e4m3 or e5m2",
                     name(dtype)));
  return format;
}

double round_to(Dtype dtype, double value) {
  if (dtype == Dtype::f64) return value;
  if (is_integer(dtype)) {
    const double nearest = std::nearbyint(value);
    if (!fits(dtype, nearest))
      fail(fmt::format("{} does not fit {}: keep the values within {} bits", value, name(dtype),
                       8 * size_of(dtype)));
    return nearest;
  }
  if (std::isinf(value)) return std::copysign(beyond(dtype), value);
  if (value == 0 || std::isnan(value)) return value;
  if (dtype == Dtype::f32) return static_cast<float>(value); // IEEE 754-2019, 5.4.2
  const FloatFormat format = format_of(dtype);
  // One quantum is an ulp of the binade of `value`. Scaling by a power of two is exact here (the
  // quantum is never below 2^-149), so nearest_integer does the only rounding; a carry into the
  // next binade correctly gives its first number.
  const int exponent = std::max(exponent_of(value), format.min_exponent) - (format.precision - 1);
  const double rounded = nearest_integer(value * power_of_two(-exponent)) * power_of_two(exponent);
  return std::fabs(rounded) > max_of(dtype) ? std::copysign(beyond(dtype), value) : rounded;
}

std::vector<double> tf32_rounded(std::span<const double> values) {
  constexpr int kPrecision = 11;
  std::vector<double> rounded;
  rounded.reserve(values.size());
  for (const double value : values) {
    if (value == 0 || !std::isfinite(value)) {
      rounded.push_back(value);
      continue;
    }
    const int exponent =
        std::max(exponent_of(value), float_format(Dtype::f32).min_exponent) - kPrecision + 1;
    rounded.push_back(std::round(value * power_of_two(-exponent)) * power_of_two(exponent));
  }
  return rounded;
}

bool is_representable(Dtype dtype, double value) {
  if (is_integer(dtype)) return fits(dtype, value) && std::nearbyint(value) == value;
  return std::isnan(value) || round_to(dtype, value) == value;
}

double min_subnormal(Dtype dtype) {
  const FloatFormat format = float_format(dtype);
  return std::ldexp(1.0, format.min_exponent - (format.precision - 1));
}

double max_finite(Dtype dtype) {
  float_format(dtype);
  return max_of(dtype);
}

double ulp(Dtype dtype, double value) {
  if (!std::isfinite(value)) fail(fmt::format("ulp of {}: the value must be finite", value));
  if (is_integer(dtype)) return std::max(1.0, ulp(Dtype::f64, value));
  const FloatFormat format = format_of(dtype);
  const int exponent = std::clamp(exponent_of(value), format.min_exponent, format.max_exponent);
  // In two factors: power_of_two cannot represent f64's smallest subnormal.
  return power_of_two(exponent) * power_of_two(1 - format.precision);
}

double next_away(Dtype dtype, double value) {
  if (dtype == Dtype::f64) return std::nextafter(value, std::copysign(kInfinity, value));
  const double next = value + std::copysign(ulp(dtype, value), value);
  return is_integer(dtype) || std::fabs(next) <= max_finite(dtype)
             ? next
             : std::copysign(beyond(dtype), value);
}

double decode(Dtype dtype, std::uint64_t bits) {
  switch (dtype) {
  case Dtype::f32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  case Dtype::f16:
  case Dtype::e4m3:
  case Dtype::e5m2: return decode_narrow(dtype, bits);
  case Dtype::bf16: return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  case Dtype::f64: return std::bit_cast<double>(bits);
  case Dtype::i32: return std::bit_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
  case Dtype::i8: return std::bit_cast<std::int8_t>(static_cast<std::uint8_t>(bits));
  case Dtype::u32: return static_cast<std::uint32_t>(bits);
  case Dtype::i64: // the last ones would round to 2^63, which is out of range
    return std::min(static_cast<double>(std::bit_cast<std::int64_t>(bits)), 0x1.fffffffffffffp62);
  }
  fail("decode: unknown dtype");
}

std::uint64_t encode(Dtype dtype, double value) {
  if (std::isnan(value)) return quiet_nan_bits(dtype);
  if (!is_representable(dtype, value))
    fail(fmt::format("{:a} = {} is not a number of {}: round it with round_to first", value, value,
                     name(dtype)));
  switch (dtype) {
  case Dtype::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  case Dtype::f16:
  case Dtype::e4m3:
  case Dtype::e5m2: return encode_narrow(dtype, value);
  case Dtype::bf16: return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16;
  case Dtype::f64: return std::bit_cast<std::uint64_t>(value);
  case Dtype::i32: return std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(value));
  case Dtype::i8: return std::bit_cast<std::uint8_t>(static_cast<std::int8_t>(value));
  case Dtype::u32: return static_cast<std::uint32_t>(value);
  case Dtype::i64: return std::bit_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  fail("encode: unknown dtype");
}

std::uint64_t poison_bits(Dtype dtype) { return ~std::uint64_t{0} >> (64 - 8 * size_of(dtype)); }

namespace {

// Every element of every test is copied here: with a compile-time width, each copy is a single
// instruction.
template <typename Body>
void with_width(Dtype dtype, const Body& body) {
  switch (size_of(dtype)) {
  case 1: return body(std::integral_constant<std::size_t, 1>{});
  case 2: return body(std::integral_constant<std::size_t, 2>{});
  case 4: return body(std::integral_constant<std::size_t, 4>{});
  case 8: return body(std::integral_constant<std::size_t, 8>{});
  }
  fail(fmt::format("{} bytes an element: 1, 2, 4 and 8 are known", size_of(dtype)));
}

} // namespace

void encode_bytes(Dtype dtype, std::span<const double> values, std::span<std::byte> bytes) {
  with_width(dtype, [&](auto width) {
    require(bytes.size() == values.size() * width,
            fmt::format("{} bytes for {} values of {}", bytes.size(), values.size(), name(dtype)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t bits = encode(dtype, values[i]);
      std::memcpy(bytes.data() + i * width, &bits, width); // little-endian
    }
  });
}

void store_bits(Dtype dtype, std::span<const std::uint64_t> bits, std::span<std::byte> bytes) {
  with_width(dtype, [&](auto width) {
    require(bytes.size() == bits.size() * width,
            fmt::format("{} bytes for {} patterns of {}", bytes.size(), bits.size(), name(dtype)));
    for (std::size_t i = 0; i < bits.size(); ++i)
      std::memcpy(bytes.data() + i * width, &bits[i], width); // little-endian
  });
}

void append_bytes(Observed& seen, std::span<const std::byte> bytes) {
  with_width(seen.dtype, [&](auto width) {
    const std::size_t before = seen.bits.size(), count = bytes.size() / width;
    seen.bits.resize(before + count);
    seen.values.resize(before + count);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * width, width); // little-endian
      seen.bits[before + i] = bits;
      seen.values[before + i] = decode(seen.dtype, bits);
    }
  });
}

Observed observe_bytes(Dtype dtype, std::span<const std::byte> bytes) {
  Observed seen{dtype, {}, {}};
  append_bytes(seen, bytes);
  return seen;
}

} // namespace kg::test
