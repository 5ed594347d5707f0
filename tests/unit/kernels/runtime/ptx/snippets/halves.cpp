// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "Half Precision Floating Point Instructions": f16, bfloat16 and pairs of them, each
// result the exact one rounded once (exact.h).
#include "tests/unit/kernels/runtime/ptx/snippets/exact.h"
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <cmath>

namespace kg::test::snippets {
namespace {

template <class Half>
constexpr Format kFormat = std::is_same_v<Half, F16> ? snippets::kHalf : snippets::kBrain;

template <class Half>
double value(Half half) {
  return value_of(half.bits, kFormat<Half>);
}
template <class Half>
Half half_of(double number) {
  return {bits_of(number, kFormat<Half>)};
}

template <class Half>
struct Arithmetic {
  static Half fma(Half a, Half b, Half c) {
    return half_of<Half>(fused(value(a), value(b), value(c), kFormat<Half>));
  }
  static Half add(Half a, Half b) {
    return half_of<Half>(fused(value(a), 1, value(b), kFormat<Half>));
  }
  static Half sub(Half a, Half b) {
    return half_of<Half>(fused(value(a), 1, -value(b), kFormat<Half>));
  }
  static Half mul(Half a, Half b) {
    const bool negative = std::signbit(value(a)) != std::signbit(value(b));
    return half_of<Half>(fused(value(a), value(b), negative ? -0. : 0., kFormat<Half>));
  }
  static Half neg(Half a) { return {static_cast<std::uint16_t>(a.bits ^ 0x8000)}; }
  static Half abs(Half a) { return {static_cast<std::uint16_t>(a.bits & 0x7fff)}; }
  // Of a NaN the other one, and of two the canonical one; -0 before +0.
  static Half min(Half a, Half b) {
    const double x = value(a), y = value(b);
    if (std::isnan(x)) return std::isnan(y) ? Half{0x7fff} : b;
    if (std::isnan(y) || x < y || (x == y && std::signbit(x))) return a;
    return b;
  }
  static Half max(Half a, Half b) {
    const double x = value(a), y = value(b);
    if (std::isnan(x)) return std::isnan(y) ? Half{0x7fff} : b;
    if (std::isnan(y) || x > y || (x == y && !std::signbit(x))) return a;
    return b;
  }
};

// Of a pair, half by half.
template <class Half>
auto paired(Half (*f)(Half)) {
  return [=](Pair<Half> a) { return Pair<Half>{f(a.low), f(a.high)}; };
}
template <class Half>
auto paired(Half (*f)(Half, Half)) {
  return [=](Pair<Half> a, Pair<Half> b) { return Pair<Half>{f(a.low, b.low), f(a.high, b.high)}; };
}
template <class Half>
auto paired(Half (*f)(Half, Half, Half)) {
  return [=](Pair<Half> a, Pair<Half> b, Pair<Half> c) {
    return Pair<Half>{f(a.low, b.low, c.low), f(a.high, b.high, c.high)};
  };
}

template <class Half>
void add_of(Table& table, const std::string& type) {
  using Of = Arithmetic<Half>;
  const auto add = [&](const std::string& form, auto* function, int target = 80) {
    table.push_back(snippet(form + "." + type, function));
    table.back().target = target;
    table.push_back(snippet(form + "." + type + "x2", paired(function)));
    table.back().target = target;
  };
  const int sums = type == "bf16" ? 90 : 80; // the architecture that has them
  for (const std::string mode : {"", ".rn"}) {
    add("add" + mode, Of::add, sums);
    add("sub" + mode, Of::sub, sums);
    add("mul" + mode, Of::mul, sums);
  }
  add("fma.rn", Of::fma);
  add("neg", Of::neg);
  add("abs", Of::abs);
  const std::size_t before = table.size();
  add("min", Of::min);
  add("max", Of::max);
  for (std::size_t i = before; i < table.size(); ++i) table[i].canonical_nan = true;
}

} // namespace

void add_halves(Table& table) {
  add_of<F16>(table, "f16");
  add_of<BF16>(table, "bf16");
}

} // namespace kg::test::snippets
