// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "Integer Arithmetic Instructions". Computed in 128 bits, of which the result's are kept.
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <algorithm>

namespace kg::test::snippets {
namespace {

__extension__ typedef __int128 Wide; // wider than ISO C++ has

template <class T>
T low(Wide value) {
  return static_cast<T>(value);
}
template <class T>
T high(Wide value) {
  return static_cast<T>(value >> 8 * sizeof(T));
}
template <class T>
Wide magnitude(T value) {
  return value < 0 ? -Wide{value} : Wide{value};
}

void add_dot_products(Table& table) {
  const auto dot = [](auto a, auto b, std::uint32_t x, std::uint32_t y, std::uint32_t c) {
    Wide sum = c;
    for (int i = 0; i < 32; i += 8)
      sum += Wide{static_cast<decltype(a)>(x >> i)} * static_cast<decltype(b)>(y >> i);
    return low<std::uint32_t>(sum);
  };
  for_types<std::int8_t, std::uint8_t>([&](auto a, const std::string& of_a) {
    for_types<std::int8_t, std::uint8_t>([&](auto b, const std::string& of_b) {
      table.push_back(snippet(
          "dp4a." + of_a.substr(0, 1) + "32." + of_b.substr(0, 1) + "32",
          [=](std::uint32_t x, std::uint32_t y, std::uint32_t c) { return dot(a, b, x, y, c); }));
    });
  });
}

} // namespace

void add_integer(Table& table) {
  for_types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
      [&]<class T>(T, const std::string& t) {
        const auto add = [&](const std::string& form, auto function) {
          table.push_back(snippet(form + "." + t, function));
        };
        add("add", [](T a, T b) { return low<T>(Wide{a} + b); });
        add("sub", [](T a, T b) { return low<T>(Wide{a} - b); });
        add("mul.lo", [](T a, T b) { return low<T>(Wide{a} * b); });
        add("mad.lo", [](T a, T b, T c) { return low<T>(Wide{a} * b + c); });
        add("min", [](T a, T b) { return std::min(a, b); });
        add("max", [](T a, T b) { return std::max(a, b); });
        // By zero they are not specified. The largest quotient does not fit: its low bits.
        add("div",
            [](T a, T b) { return b == 0 ? std::nullopt : std::optional(low<T>(Wide{a} / b)); });
        add("rem",
            [](T a, T b) { return b == 0 ? std::nullopt : std::optional(low<T>(Wide{a} % b)); });
      });
  for_types<std::int32_t, std::uint32_t>([&]<class T>(T, const std::string& t) {
    table.push_back(snippet("mul.hi." + t, [](T a, T b) { return high<T>(Wide{a} * b); }));
  });
  table.push_back(snippet("mul.hi.s64", [](std::int64_t a, std::int64_t b) {
    return high<std::int64_t>(Wide{a} * b);
  }));
  table.push_back(snippet("mul.hi.u64", [](std::uint64_t a, std::uint64_t b) {
    // By halves: a product of unsigned 64 bits does not fit into a signed 128.
    const std::uint64_t a1 = a >> 32, a0 = a & 0xffffffff, b1 = b >> 32, b0 = b & 0xffffffff;
    const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xffffffff)) >> 32);
  }));
  const auto widening = [&]<class T, class To>(T, To, const std::string& t) {
    table.push_back(snippet("mul.wide." + t, [](T a, T b) { return low<To>(Wide{a} * b); }));
    table.push_back(
        snippet("mad.wide." + t, [](T a, T b, To c) { return low<To>(Wide{a} * b + c); }));
  };
  widening(std::int16_t{}, std::int32_t{}, "s16");
  widening(std::uint16_t{}, std::uint32_t{}, "u16");
  widening(std::int32_t{}, std::int64_t{}, "s32");
  widening(std::uint32_t{}, std::uint64_t{}, "u32");
  for_types<std::int16_t, std::int32_t, std::int64_t>([&]<class T>(T, const std::string& t) {
    table.push_back(snippet("neg." + t, [](T a) { return low<T>(-Wide{a}); }));
    table.push_back(snippet("abs." + t, [](T a) { return low<T>(magnitude(a)); }));
  });
  add_dot_products(table);
}

} // namespace kg::test::snippets
