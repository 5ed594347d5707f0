// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "Floating Point Instructions": those with .approx and .full, each within the error that
// the ISA states under its name. Zeros and infinities are exact, and NaN is one.
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <cmath>
#include <limits>

namespace kg::test::snippets {
namespace {

constexpr double kLeastNormal = 0x1p-126;

// The place of the last digit of an f32.
double place_of(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  return std::ldexp(1., std::max(std::ilogb(value) - 23, -149));
}

double flushed(double value, bool ftz) {
  return ftz && std::fabs(value) < kLeastNormal ? std::copysign(0., value) : value;
}

// What is subnormal and flushed may be on either side of the border.
Within result(double exact, double error, bool ftz) {
  if (!std::isfinite(exact) || exact == 0) return {exact, 0};
  if (std::fabs(exact) > static_cast<double>(std::numeric_limits<float>::max())) {
    return {std::copysign(std::numeric_limits<double>::infinity(), exact), 0};
  }
  if (ftz && std::fabs(exact) < kLeastNormal) return {std::copysign(0., exact), 0};
  return {exact, std::max(error, 0.5 * place_of(exact))};
}
Within in_places(double exact, double places, bool ftz) {
  return result(exact, places * place_of(exact), ftz);
}
Within relative(double exact, double error, bool ftz) {
  return result(exact, error * std::fabs(exact), ftz);
}

template <class Function>
void add(Table& table, const std::string& family, const Function& function) {
  for (const bool ftz : {false, true})
    table.push_back(snippet(family + (ftz ? ".ftz.f32" : ".f32"),
                            [=](float a) { return function(flushed(a, ftz), ftz); }));
}

std::optional<Within> logarithm(double a, bool ftz) {
  const double exact = std::log2(a);
  if (a > 0.5 && a < 2) return result(exact, 0x1p-22, ftz);
  return relative(exact, 0x1p-22, ftz);
}

// Beyond [-pi, pi] the ISA states no error.
template <double (*function)(double)>
std::optional<Within> circular(double a, bool ftz) {
  if (std::isfinite(a) && std::fabs(a) > 3.14159265358979) return std::nullopt;
  if (a == 0) return Within{function(a), 0};
  return result(function(a), std::exp2(-20.5), ftz);
}

} // namespace

void add_approximations(Table& table) {
  const std::size_t before = table.size();
  for (const bool ftz : {false, true}) {
    const std::string suffix = ftz ? ".ftz.f32" : ".f32";
    table.push_back(snippet("div.approx" + suffix, [=](float x, float y) -> std::optional<Within> {
      const double a = flushed(x, ftz), b = flushed(y, ftz);
      // Beyond 2^126 it is zero, or of an infinity NaN, and of either sign; below 2^-126 nothing is
      // said.
      if (std::isfinite(b) && std::fabs(b) > 0x1p126) {
        if (!std::isfinite(a)) return Within{std::nan(""), 0};
        return Within{0, std::numeric_limits<double>::min()};
      }
      if (b != 0 && std::fabs(b) < kLeastNormal) return std::nullopt;
      return in_places(a / b, 2, ftz);
    }));
    table.push_back(snippet("div.full" + suffix, [=](float a, float b) {
      return in_places(flushed(a, ftz) / flushed(b, ftz), 2, ftz);
    }));
  }
  add(table, "rcp.approx", [](double a, bool ftz) { return in_places(1 / a, 1, ftz); });
  add(table, "sqrt.approx",
      [](double a, bool ftz) { return relative(std::sqrt(a), 0x1p-23, ftz); });
  add(table, "rsqrt.approx",
      [](double a, bool ftz) { return relative(1 / std::sqrt(a), std::exp2(-22.9), ftz); });
  add(table, "ex2.approx", [](double a, bool ftz) { return in_places(std::exp2(a), 2, ftz); });
  add(table, "lg2.approx", logarithm);
  add(table, "sin.approx", circular<std::sin>);
  add(table, "cos.approx", circular<std::cos>);
  table.push_back(snippet("tanh.approx.f32", [](float a) {
    return std::isinf(a) ? Within{std::copysign(1., a), 0} : relative(std::tanh(a), 0x1p-11, false);
  }));
  for (std::size_t i = before; i < table.size(); ++i) table[i] = with_one_nan(table[i]);
}

} // namespace kg::test::snippets
