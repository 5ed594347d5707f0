// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/ptx/snippets/exact.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace kg::test::snippets {
namespace {

// Products of f32 are multiples of 2^-298 and below 2^256, so their sums fit into 10 words.
constexpr int kUnit = -298;

// A sum in units of 2^-298, in two's complement.
class Sum {
 public:
  // mantissa * 2^exponent
  void add(std::uint64_t mantissa, int exponent, bool negative) {
    const auto shift = static_cast<std::size_t>(exponent - kUnit);
    std::array<std::uint64_t, 10> term{};
    term.at(shift / 64) = mantissa << shift % 64;
    if (shift % 64 != 0) term.at(shift / 64 + 1) = mantissa >> (64 - shift % 64);
    if (negative) negate(term);
    add(words_, term);
  }

  bool negative() const { return words_.back() >> 63 != 0; }
  bool zero() const { return words_ == std::array<std::uint64_t, 10>{}; }

  double rounded(const Format& format, Toward toward) const {
    std::array<std::uint64_t, 10> size = words_;
    if (negative()) negate(size);
    const auto bit = [&](int i) {
      return i >= 0 && (size[static_cast<std::size_t>(i) / 64] >> i % 64 & 1) != 0;
    };
    int top = 639;
    while (!bit(top)) --top;
    // The place of the last digit that is kept, as a bit of the sum.
    const int last = std::max(top + kUnit - (format.digits - 1), format.lowest) - kUnit;
    std::uint64_t kept = 0;
    for (int i = top; i >= last; --i) kept = kept << 1 | static_cast<std::uint64_t>(bit(i));
    bool below = false; // half a place
    for (int i = last - 2; i >= 0; --i) below = below || bit(i);
    const bool half = bit(last - 1);
    const bool away = toward == Toward::nearest ? half && (below || kept % 2 == 1)
                      : toward == Toward::zero
                          ? false
                          : (half || below) && (toward == Toward::down) == negative();
    kept += static_cast<std::uint64_t>(away);
    const double value = std::ldexp(static_cast<double>(kept), last + kUnit);
    const double most =
        std::ldexp(std::ldexp(1., format.digits) - 1, format.highest - format.digits + 1);
    double result = value;
    if (value > most)
      result = toward == Toward::nearest ||
                       (toward != Toward::zero && (toward == Toward::down) == negative())
                   ? std::numeric_limits<double>::infinity()
                   : most;
    return negative() ? -result : result;
  }

 private:
  using Words = std::array<std::uint64_t, 10>;
  static void add(Words& to, const Words& term) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::uint64_t with_carry = term[i] + carry;
      carry = static_cast<std::uint64_t>(with_carry < carry);
      to[i] += with_carry;
      carry += static_cast<std::uint64_t>(to[i] < with_carry);
    }
  }
  static void negate(Words& of) {
    for (std::uint64_t& word : of) word = ~word;
    add(of, {1});
  }

  Words words_{};
};

// value = mantissa * 2^exponent, of a finite value other than zero
struct Parts {
  std::uint64_t mantissa;
  int exponent;
};
Parts parts_of(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  const int zeros = std::countr_zero(mantissa);
  return {mantissa >> zeros, exponent - 53 + zeros};
}

} // namespace

double fused(double a, double b, double c, const Format& format, Toward toward) {
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) return a * b + c;
  const bool negative = std::signbit(a) != std::signbit(b);
  Sum sum;
  if (a != 0 && b != 0) {
    const Parts x = parts_of(a), y = parts_of(b);
    sum.add(x.mantissa * y.mantissa, x.exponent + y.exponent, negative);
  }
  if (c != 0) {
    const Parts z = parts_of(c);
    sum.add(z.mantissa, z.exponent, std::signbit(c));
  }
  if (!sum.zero()) return sum.rounded(format, toward);
  // IEEE 754-2019, 6.3: of two zeros of one sign that sign, else + but for rounding downwards.
  const bool product_is_zero = a == 0 || b == 0;
  if (product_is_zero && negative == std::signbit(c)) return negative ? -0. : 0.;
  return toward == Toward::down ? -0. : 0.;
}

double rounded(double value, const Format& format, Toward toward) {
  if (!std::isfinite(value) || value == 0) return value;
  const Parts parts = parts_of(value);
  Sum sum;
  sum.add(parts.mantissa, parts.exponent, std::signbit(value));
  return sum.rounded(format, toward);
}

std::uint16_t bits_of(double value, const Format& format) {
  const int exponent_bits = 16 - format.digits;
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  const unsigned infinity = ((1u << exponent_bits) - 1) << (format.digits - 1);
  if (std::isnan(value)) return 0x7fff;
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (value == 0) return static_cast<std::uint16_t>(sign);
  int exponent = 0;
  std::frexp(value, &exponent); // value is in [2^(exponent - 1), 2^exponent)
  const int last = std::max(exponent - format.digits, format.lowest);
  const auto places = static_cast<unsigned>(std::ldexp(std::fabs(value), -last));
  // Of a normal number the leading place adds one to the exponent, which counts from 1.
  const auto biased = static_cast<unsigned>(last - format.lowest);
  return static_cast<std::uint16_t>(sign | ((biased << (format.digits - 1)) + places));
}

double value_of(std::uint16_t bits, const Format& format) {
  const unsigned field = (bits & 0x7fffu) >> (format.digits - 1);
  const unsigned fraction = bits & ((1u << (format.digits - 1)) - 1);
  const unsigned all_ones = (1u << (16 - format.digits)) - 1;
  double size = 0;
  if (field == all_ones)
    size = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (field == 0)
    size = std::ldexp(fraction, format.lowest);
  else
    size = std::ldexp(fraction + (1u << (format.digits - 1)),
                      format.lowest + static_cast<int>(field) - 1);
  return (bits & 0x8000u) != 0 ? -size : size;
}

} // namespace kg::test::snippets
