// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "cvt". What a form means follows from its parts: cvt.<rounding>.<to>.<from>.
#include "tests/unit/kernels/runtime/ptx/snippets/exact.h"
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

namespace kg::test::snippets {
namespace {

__extension__ typedef __int128 Wide; // wider than ISO C++ has

struct Form {
  std::string text, to, from;
  std::vector<std::string> parts;

  explicit Form(const std::string& form) : text(form) {
    std::istringstream words(form);
    for (std::string part; std::getline(words, part, '.');) parts.push_back(part);
    from = parts.back();
    to = parts.at(parts.size() - 2);
  }
  bool has(const std::string& part) const {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  }
  Toward toward() const {
    const auto either = [&](const std::string& mode) { return has(mode) || has(mode + "i"); };
    return either("rz")   ? Toward::zero
           : either("rm") ? Toward::down
           : either("rp") ? Toward::up
                          : Toward::nearest;
  }
};

template <class T>
constexpr bool kIsFloat = !std::is_integral_v<T>;
template <class T>
double number(T value) {
  return value;
}
double number(F16 value) { return value_of(value.bits, kHalf); }
double number(BF16 value) { return value_of(value.bits, kBrain); }

// f(T{}) for the type of this name.
template <class Function>
void with_type(const std::string& name, const Function& f) {
  bool found = false;
  for_types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
            std::int32_t, std::int64_t, float, double, F16, BF16>(
      [&]<class T>(T value, const std::string& type) {
        if (type == name) f(value), found = true;
      });
  if (!found) throw std::invalid_argument("no type " + name);
}

// Results of 8 bits stand in registers of 16, extended as their type says.
template <class To>
using Register =
    std::conditional_t<sizeof(To) == 1,
                       std::conditional_t<std::is_signed_v<To>, std::int16_t, std::uint16_t>, To>;

template <class To>
To within_range(Wide value) {
  constexpr Wide kLeast = std::numeric_limits<To>::min(), kMost = std::numeric_limits<To>::max();
  return static_cast<To>(std::clamp(value, kLeast, kMost));
}

double integral(double value, Toward toward) {
  switch (toward) {
  case Toward::zero: return std::trunc(value);
  case Toward::down: return std::floor(value);
  case Toward::up: return std::ceil(value);
  case Toward::nearest: break;
  }
  const double low = std::floor(value), rest = value - low;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(low, 2) != 0);
  return std::copysign(up ? low + 1 : low, value);
}

// "NaN: zero where neither the source is .f64 nor the destination of 64 bits, else the top bit."
template <class To, class From>
To integer_of(From from, Toward toward) {
  const double value = number(from);
  if (std::isnan(value))
    return sizeof(From) == 8 || sizeof(To) == 8 ? static_cast<To>(Wide{1} << (8 * sizeof(To) - 1))
                                                : To{0};
  const double whole = std::clamp(integral(value, toward), -0x1p100, 0x1p100);
  return within_range<To>(static_cast<Wide>(whole));
}

// Doubles may be finer and larger than exact.h takes: what is that small decides a direction alone.
double narrowed(double value, const Format& format, Toward toward) {
  if (value != 0 && std::fabs(value) < 0x1p-200) value = std::copysign(0x1p-200, value);
  if (std::isfinite(value) && std::fabs(value) > 0x1p200) value = std::copysign(0x1p200, value);
  return rounded(value, format, toward);
}
// By halves, which are exact as doubles.
template <class From>
double narrowed_integer(From from, const Format& format, Toward toward) {
  const Wide wide = from;
  const Wide high = wide >> 32;
  return fused(static_cast<double>(high), 0x1p32, static_cast<double>(wide - (high << 32)), format,
               toward);
}

template <class To>
To encoded(double value) {
  if constexpr (std::is_same_v<To, F16>)
    return {bits_of(value, kHalf)};
  else if constexpr (std::is_same_v<To, BF16>)
    return {bits_of(value, kBrain)};
  else
    return static_cast<To>(value);
}

// A NaN of f64 as f32 or f16. The ISA says nothing of it, but that instructions of f32 "return an
// unspecified NaN payload". On an H200 it keeps its sign and is quiet. That the payload's upper
// bits stay, as on x86, is not seen yet: in the NaN that were tried they are 0.
template <class To>
To nan_of(double nan) {
  constexpr bool kIsHalf = sizeof(To) == 2;
  constexpr Word kQuiet = kIsHalf ? 0x7e00 : 0x7fc00000;
  const auto bits = std::bit_cast<Word>(nan);
  const Word payload = (bits & 0xfffffffffffff) >> (52 - (kIsHalf ? 10 : 23));
  return Type<To>::of(bits >> 63 << (8 * sizeof(To) - 1) | kQuiet | payload);
}

template <class To, class From>
To float_of(From from, const Form& form) {
  constexpr Format kTo = std::is_same_v<To, F16>    ? kHalf
                         : std::is_same_v<To, BF16> ? kBrain
                                                    : kSingle;
  const Toward toward = form.toward();
  const bool whole = form.has("rni") || form.has("rzi") || form.has("rmi") || form.has("rpi");
  double value = 0;
  if constexpr (!kIsFloat<From>) {
    if constexpr (std::is_same_v<To, double>) return static_cast<double>(from);
    value = narrowed_integer(from, kTo, toward);
  } else {
    value = number(from);
    if constexpr (std::is_same_v<From, double> && !std::is_same_v<To, double>)
      if (std::isnan(value)) return nan_of<To>(value);
    const auto flush = [&](bool subject) {
      if (form.has("ftz") && subject && std::fabs(value) < 0x1p-126)
        value = std::copysign(0., value);
    };
    flush(std::is_same_v<From, float>);
    if (whole) value = integral(value, toward);
    if (form.has("relu") && !(value > 0) && !std::isnan(value)) value = 0;
    if constexpr (!std::is_same_v<To, double>) value = narrowed(value, kTo, toward);
    flush(std::is_same_v<To, float>);
    if (form.has("sat")) value = value >= 1 ? 1 : value > 0 ? value : 0;
  }
  return encoded<To>(value);
}

Snippet conversion(const Form& form) {
  Snippet result;
  with_type(form.to, [&]<class To>(To) {
    with_type(form.from, [&]<class From>(From) {
      if constexpr (kIsFloat<To>)
        result = snippet(form.text, [=](From from) { return float_of<To>(from, form); });
      else if constexpr (kIsFloat<From>)
        result = snippet(form.text, [=](From from) {
          return static_cast<Register<To>>(integer_of<To>(from, form.toward()));
        });
      else
        result = snippet(form.text, [=](From from) {
          return static_cast<Register<To>>(form.has("sat") ? within_range<To>(from)
                                                           : static_cast<To>(from));
        });
    });
  });
  // Of NaN a 16-bit float has one, "canonical".
  result.canonical_nan = form.to == "f16" || form.to == "bf16";
  if (form.to != "f32" || form.from == "bf16") return result; // which becomes one by a shift
  if (form.from != "f64") return with_one_nan(result);
  result.canonical_nan = true; // nan_of
  return result;
}

template <class Half>
Snippet pair_of_floats(const Form& form, const Format& format) {
  return snippet(form.text, [=](float high, float low) {
    const auto half = [&](double value) {
      if (form.has("relu") && !(value > 0) && !std::isnan(value)) value = 0;
      return Half{bits_of(rounded(value, format, form.toward()), format)};
    };
    return Pair<Half>{half(low), half(high)};
  });
}

// To 10 places of fraction, ties away from zero. Of NaN the ISA does not say what it becomes; an
// H200 cuts the other places off, which makes infinity of 0x7f800001.
std::uint32_t tf32_of(float value) {
  if (std::isnan(value)) return std::bit_cast<std::uint32_t>(value) & ~0x1fffu;
  if (std::isinf(value) || value == 0) return std::bit_cast<std::uint32_t>(value);
  const int last = std::max(std::ilogb(value), -126) - 10;
  const double places = std::floor(std::ldexp(std::fabs(static_cast<double>(value)), -last) + 0.5);
  return std::bit_cast<std::uint32_t>(
      static_cast<float>(std::copysign(std::ldexp(places, last), value)));
}

// The number of 8 bits that is nearest, of two the even one, of those up to `largest`.
std::uint16_t nearest_of_bytes(float value, int fraction, int bias, unsigned largest) {
  if (std::isnan(value)) return 0x7f;
  const auto number = [&](unsigned bits) {
    const int exponent = static_cast<int>(bits >> fraction);
    const unsigned places = bits & ((1u << fraction) - 1);
    return exponent == 0 ? std::ldexp(places, 1 - bias - fraction)
                         : std::ldexp(places + (1u << fraction), exponent - bias - fraction);
  };
  const double size = std::min(std::fabs(static_cast<double>(value)), number(largest));
  unsigned best = 0;
  for (unsigned bits = 1; bits <= largest; ++bits) {
    const double now = std::fabs(number(bits) - size), before = std::fabs(number(best) - size);
    if (now < before || (now == before && bits % 2 == 0)) best = bits;
  }
  return static_cast<std::uint16_t>(best | (std::signbit(value) ? 0x80u : 0));
}

// The first operand becomes the upper byte.
Snippet pair_of_bytes(const std::string& form, int fraction, int bias, unsigned largest) {
  Snippet made = snippet(form, [=](float high, float low) -> std::uint16_t {
    return static_cast<std::uint16_t>(nearest_of_bytes(high, fraction, bias, largest) << 8 |
                                      nearest_of_bytes(low, fraction, bias, largest));
  });
  made.target = 90; // 8.9, to be exact
  // Also what lies near the numbers of 8 bits, and halfway between them.
  made.operand = [](std::size_t, std::size_t, std::uint64_t random) -> Word {
    const auto bits = static_cast<std::uint32_t>(random);
    const std::uint32_t exponent = 100 + (bits >> 24) % 48;
    const std::uint32_t fraction = bits % 4 == 0 ? bits & 0x7fffff : (bits & 0x780000) | bits % 2;
    return random >> 60 == 0 ? bits : (bits >> 31) << 31 | exponent << 23 | fraction;
  };
  return made;
}

// A number of 8 bits with 4 of exponent, whose bias is 7, and 3 of fraction, as f16 (OCP 8-bit
// Floating Point Specification 1.0): 1.mmm x 2^(e - 7), or 0.mmm x 2^-6; all but the sign set: NaN.
std::uint32_t half_of_byte(unsigned byte) {
  const unsigned exponent = byte / 8 % 16, fraction = byte % 8;
  if (byte % 128 == 127) return 0x7fff;
  const double magnitude = exponent == 0
                               ? fraction / 8.0 * std::exp2(-6)
                               : (1 + fraction / 8.0) * std::exp2(static_cast<int>(exponent) - 7);
  return byte / 128 << 15 | bits_of(magnitude, kHalf);
}

Snippet bytes_to_halves(const std::string& form) {
  Snippet made = snippet(form, [](std::uint16_t both) -> std::uint32_t {
    return half_of_byte(both >> 8) << 16 | half_of_byte(both & 0xffu);
  });
  made.target = 90; // 8.9, to be exact
  // Each number by itself, too.
  made.operand = [](std::size_t at, std::size_t, std::uint64_t random) -> Word {
    return at < 256 ? at | (at ^ 0x5a) << 8 : static_cast<std::uint16_t>(random);
  };
  return made;
}

} // namespace

void add_conversions(Table& table) {
  for (const char* form :
       {"cvt.u32.u64",         "cvt.u64.u32",         "cvt.s64.s32",         "cvt.u32.u16",
        "cvt.u16.u32",         "cvt.u32.u8",          "cvt.u16.u8",          "cvt.s16.s8",
        "cvt.s32.s8",          "cvt.u8.u32",          "cvt.s8.s32",          "cvt.s32.s16",
        "cvt.u64.u16",         "cvt.u64.u8",          "cvt.s64.s16",         "cvt.s64.s8",
        "cvt.u16.u64",         "cvt.sat.s8.s32",      "cvt.sat.u8.s32",      "cvt.sat.s32.s64",
        "cvt.sat.u16.s32",     "cvt.s32.u32",         "cvt.s32.s64",         "cvt.rn.f32.s32",
        "cvt.rn.f32.u32",      "cvt.rn.f32.s64",      "cvt.rn.f32.u64",      "cvt.rz.f32.s32",
        "cvt.rm.f32.s32",      "cvt.rp.f32.u32",      "cvt.rz.f32.u64",      "cvt.rn.f32.u16",
        "cvt.rn.f32.s16",      "cvt.rn.f32.u8",       "cvt.rn.f32.s8",       "cvt.rn.f64.s32",
        "cvt.rn.f64.u32",      "cvt.rn.f64.s64",      "cvt.rn.f64.u64",      "cvt.rn.f16.s16",
        "cvt.rn.f16.u16",      "cvt.rni.s32.f32",     "cvt.rzi.s32.f32",     "cvt.rmi.s32.f32",
        "cvt.rpi.s32.f32",     "cvt.rzi.u32.f32",     "cvt.rni.u32.f32",     "cvt.rzi.s64.f32",
        "cvt.rzi.u64.f32",     "cvt.rzi.ftz.s32.f32", "cvt.rni.ftz.s32.f32", "cvt.rzi.s32.f64",
        "cvt.rzi.u32.f64",     "cvt.rzi.s64.f64",     "cvt.rni.s64.f64",     "cvt.rzi.s32.f16",
        "cvt.rni.s32.f16",     "cvt.rzi.u16.f16",     "cvt.rni.f32.f32",     "cvt.rzi.f32.f32",
        "cvt.rmi.f32.f32",     "cvt.rpi.f32.f32",     "cvt.rni.f64.f64",     "cvt.rzi.f64.f64",
        "cvt.rmi.f64.f64",     "cvt.rpi.f64.f64",     "cvt.rmi.f16.f16",     "cvt.rzi.f16.f16",
        "cvt.sat.f32.f32",     "cvt.ftz.f32.f32",     "cvt.f64.f32",         "cvt.ftz.f64.f32",
        "cvt.rn.f32.f64",      "cvt.rz.f32.f64",      "cvt.rm.f32.f64",      "cvt.rp.f32.f64",
        "cvt.rn.ftz.f32.f64",  "cvt.f32.f16",         "cvt.f64.f16",         "cvt.rn.f16.f32",
        "cvt.rz.f16.f32",      "cvt.rn.f16.f64",      "cvt.rn.bf16.f32",     "cvt.rz.bf16.f32",
        "cvt.rn.relu.f16.f32", "cvt.rn.relu.bf16.f32"})
    table.push_back(conversion(Form(form)));
  table.push_back(conversion(Form("cvt.f32.bf16")));
  table.back().target = 90;
  for (const char* form : {"cvt.rn.f16x2.f32", "cvt.rz.f16x2.f32", "cvt.rn.relu.f16x2.f32"})
    table.push_back(pair_of_floats<F16>(Form(form), kHalf));
  for (const char* form : {"cvt.rn.bf16x2.f32", "cvt.rz.bf16x2.f32", "cvt.rn.relu.bf16x2.f32"})
    table.push_back(pair_of_floats<BF16>(Form(form), kBrain));
  table.push_back(snippet("cvt.rna.tf32.f32", tf32_of));
  table.push_back(pair_of_bytes("cvt.rn.satfinite.e4m3x2.f32", 3, 7, 0x7e));
  table.push_back(pair_of_bytes("cvt.rn.satfinite.e5m2x2.f32", 2, 15, 0x7b));
  table.push_back(bytes_to_halves("cvt.rn.f16x2.e4m3x2"));
}

} // namespace kg::test::snippets
