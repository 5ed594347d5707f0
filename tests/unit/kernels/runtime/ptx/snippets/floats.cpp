// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "Floating Point Instructions". Of f32 each result is the exact one rounded once
// (exact.h); of f64 it is what IEEE 754 says, as the CPU has it.
#include "tests/unit/kernels/runtime/ptx/snippets/exact.h"
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <bit>
#include <cmath>

namespace kg::test::snippets {
namespace {

// With .ftz a subnormal operand or result is a zero of its sign.
float flushed(float value, bool ftz) {
  return ftz && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.f, value) : value;
}
// The PTX ISA does not say whether that is seen before or after rounding. An H200 looks at the
// result rounded to 24 bits as if exponents had no end (IEEE 754-2019, 7.5, "after rounding"), not
// at the nearest number of the format: (1 - 2^-24) 2^-126 is flushed, of which that is 2^-126. Nor
// at the exact result: 2^-252 - 2^-126 is not flushed. Sums cannot tell these apart.
constexpr Format kSingleWithoutEnd{24, -298, 127};
float saturated(float value) { // a NaN is +0
  return value >= 1 ? 1.f : value > 0 ? value : 0.f;
}

// Which of two is less or greater: of a NaN the other one, -0 before +0.
template <class T>
T lesser(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greater(T a, T b) {
  return -lesser(-a, -b);
}

const float kCanonicalNan = std::bit_cast<float>(0x7fffffffu);

void add_sums(Table& table) {
  const std::pair<const char*, Toward> modes[] = {{"", Toward::nearest},
                                                  {".rn", Toward::nearest},
                                                  {".rz", Toward::zero},
                                                  {".rm", Toward::down},
                                                  {".rp", Toward::up}};
  for (const auto& [mode, toward] : modes)
    for (const bool ftz : {false, true})
      for (const bool sat : {false, true}) {
        if ((ftz || sat) && toward != Toward::nearest) continue; // as nobody writes
        const std::string suffix =
            std::string(mode) + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32";
        const auto result = [=, toward = toward](float a, float b, float c) {
          a = flushed(a, ftz), b = flushed(b, ftz), c = flushed(c, ftz);
          const auto value = static_cast<float>(fused(a, b, c, kSingle, toward));
          const bool tiny = std::fabs(fused(a, b, c, kSingleWithoutEnd, toward)) < 0x1p-126;
          const float kept = ftz && tiny ? std::copysign(0.f, value) : value;
          return sat ? saturated(kept) : kept;
        };
        const auto add = [&](const std::string& family, auto function) {
          table.push_back(with_one_nan(snippet(family + suffix, function)));
        };
        add("add", [=](float a, float b) { return result(a, 1, b); });
        add("sub", [=](float a, float b) { return result(a, 1, -b); });
        add("mul", [=](float a, float b) {
          return result(a, b, std::signbit(a) != std::signbit(b) ? -0.f : 0.f);
        });
        if (*mode != '\0') add("fma", result);
      }
  for (const std::string mode : {"", ".rn"}) {
    table.push_back(snippet("add" + mode + ".f64", [](double a, double b) { return a + b; }));
    table.push_back(snippet("sub" + mode + ".f64", [](double a, double b) { return a - b; }));
    table.push_back(snippet("mul" + mode + ".f64", [](double a, double b) { return a * b; }));
  }
  table.push_back(
      snippet("fma.rn.f64", [](double a, double b, double c) { return std::fma(a, b, c); }));
}

void add_signs(Table& table) {
  for (const bool ftz : {false, true}) {
    const std::string suffix = ftz ? ".ftz.f32" : ".f32";
    table.push_back(snippet("neg" + suffix, [=](float a) { return -flushed(a, ftz); }));
    table.push_back(snippet("abs" + suffix, [=](float a) { return std::fabs(flushed(a, ftz)); }));
    const auto both_nan = [](float a, float b) { return std::isnan(a) && std::isnan(b); };
    const auto one_nan = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
    const auto add = [&](const std::string& family, const std::string& nan, auto function) {
      table.push_back(snippet(family + (ftz ? ".ftz" : "") + nan + ".f32", function));
      table.back().canonical_nan = true;
    };
    add("min", "", [=](float a, float b) {
      return both_nan(a, b) ? kCanonicalNan : lesser(flushed(a, ftz), flushed(b, ftz));
    });
    add("max", "", [=](float a, float b) {
      return both_nan(a, b) ? kCanonicalNan : greater(flushed(a, ftz), flushed(b, ftz));
    });
    add("min", ".NaN", [=](float a, float b) {
      return one_nan(a, b) ? kCanonicalNan : lesser(flushed(a, ftz), flushed(b, ftz));
    });
    add("max", ".NaN", [=](float a, float b) {
      return one_nan(a, b) ? kCanonicalNan : greater(flushed(a, ftz), flushed(b, ftz));
    });
  }
  table.push_back(snippet("neg.f64", [](double a) { return -a; }));
  table.push_back(snippet("abs.f64", [](double a) { return std::fabs(a); }));
  table.push_back(snippet("min.f64", lesser<double>));
  table.push_back(snippet("max.f64", greater<double>));
  // The sign of the first, the size of the second.
  table.push_back(snippet("copysign.f32", [](float a, float b) { return std::copysign(b, a); }));
  table.push_back(snippet("copysign.f64", [](double a, double b) { return std::copysign(b, a); }));
}

void add_quotients(Table& table) {
  // In f64 and rounded again, which with more than twice the digits and two is the same as once
  // (Figueroa, "When is double rounding innocuous?", 1995), the more so of a subnormal quotient.
  const auto quotient = [](double a, double b) { return static_cast<float>(a / b); };
  for (const bool ftz : {false, true}) {
    const std::string suffix = ftz ? ".rn.ftz.f32" : ".rn.f32";
    const auto add = [&](const std::string& family, auto function) {
      table.push_back(with_one_nan(snippet(family + suffix, function)));
    };
    add("div",
        [=](float a, float b) { return flushed(quotient(flushed(a, ftz), flushed(b, ftz)), ftz); });
    add("rcp", [=](float a) { return flushed(quotient(1, flushed(a, ftz)), ftz); });
    add("sqrt", [=](float a) {
      return static_cast<float>(std::sqrt(static_cast<double>(flushed(a, ftz))));
    });
  }
  table.push_back(snippet("div.rn.f64", [](double a, double b) { return a / b; }));
  table.push_back(snippet("rcp.rn.f64", [](double a) { return 1 / a; }));
  table.push_back(snippet("sqrt.rn.f64", [](double a) { return std::sqrt(a); }));
}

} // namespace

void add_floats(Table& table) {
  add_sums(table);
  add_signs(table);
  add_quotients(table);
}

} // namespace kg::test::snippets
