// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/warpgroup_product.h"

#include "runtime/host/bfloat16.h"
#include "runtime/host/half.h"
#include "runtime/host/matrix.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <type_traits>

namespace kg::host {
namespace {

constexpr unsigned kRows = 64;
constexpr unsigned kMostColumns = 256;
constexpr unsigned kMostDepth = 32;
constexpr std::size_t kUnit = 16; // bytes

// OCP 8-bit Floating Point Specification 1.0: 3 bits of fraction, a bias of 7, no infinity.
float float_of_e4m3(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 3 & 0xF), fraction = static_cast<int>(bits & 7);
  if (exponent == 15 && fraction == 7) return std::bit_cast<float>(0x7fffffffu);
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                   : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return (bits & 0x80) != 0 ? -size : size;
}

const std::array<float, 256>& values_of_e4m3() {
  static const auto values = [] {
    std::array<float, 256> all{};
    for (unsigned i = 0; i < 256; ++i) all[i] = float_of_e4m3(i);
    return all;
  }();
  return values;
}

// Calls f(number) for each element of the `bytes` bytes at `from`.
template <class Number, class Function>
void for_each_element(ElementType type, const void* from, unsigned bytes, const Function& f) {
  const auto each = [&]<class Raw>(Raw, auto&& value_of) {
    const auto* at = static_cast<const unsigned char*>(from);
    for (unsigned i = 0; i < bytes / sizeof(Raw); ++i) {
      Raw raw;
      std::memcpy(&raw, at + i * sizeof raw, sizeof raw);
      f(i, static_cast<Number>(value_of(raw)));
    }
  };
  using u16 = std::uint16_t;
  using u8 = std::uint8_t;
  switch (type) {
  case ElementType::f16: return each(u16{}, [](u16 raw) { return Binary16::to_float(raw); });
  case ElementType::bf16: return each(u16{}, [](u16 raw) { return Bfloat16::to_float(raw); });
  case ElementType::tf32:
    return each(std::uint32_t{}, [](std::uint32_t raw) { return Tf32::to_float(raw); });
  case ElementType::e4m3: return each(u8{}, [](u8 raw) { return values_of_e4m3()[raw]; });
  case ElementType::e5m2:
    return each(u8{}, [](u8 raw) { return Binary16::to_float(static_cast<u16>(raw << 8)); });
  case ElementType::s8: return each(std::int8_t{}, [](std::int8_t raw) { return raw; });
  case ElementType::u8: return each(u8{}, [](u8 raw) { return raw; });
  }
}

// Calls set(row, k, number) for all elements of a matrix in shared memory.
template <class Number, class Set>
void read(const std::vector<std::uintptr_t>& units, ElementType type, bool by_depth, unsigned depth,
          const Set& set) {
  const auto in_unit = static_cast<unsigned>(kUnit / bytes_of(type));
  const unsigned a_line = by_depth ? depth / in_unit : depth; // units per row, or per 8 rows
  for (unsigned n = 0; n < units.size(); ++n) {
    const unsigned line = n / a_line, within = n % a_line;
    for_each_element<Number>(type, reinterpret_cast<const void*>(units[n]), kUnit,
                             [&](unsigned i, Number number) {
                               if (by_depth)
                                 set(line, within * in_unit + i, number);
                               else
                                 set(line * in_unit + i, within, number);
                             });
  }
}

template <class Number>
void read_registers(std::span<const std::uint32_t> words, ElementType type, const auto& set) {
  const unsigned in_word = 4 / bytes_of(type);
  for (unsigned thread = 0; thread < kWarpgroupSize; ++thread) {
    for (unsigned word = 0; word < kRegistersOfA; ++word) {
      const unsigned row = thread / 32 * 16 + thread % 32 / 4 + word % 2 * 8;
      const unsigned k = (word / 2 * 4 + thread % 4) * in_word;
      for_each_element<Number>(type, &words[thread * kRegistersOfA + word], 4,
                               [&](unsigned i, Number number) { set(row, k + i, number); });
    }
  }
}

// Calls f(row, column, word, half) for all sums; `half` selects one of two sums in a word.
template <class Function>
void for_each_sum(const WarpgroupProduct& product, const Function& f) {
  const bool two = product.sum_type == SumType::f16;
  for (unsigned thread = 0; thread < kWarpgroupSize; ++thread) {
    const unsigned row = thread / 32 * 16 + thread % 32 / 4;
    for (unsigned i = 0; i < product.columns / 2; ++i) {
      const unsigned word = thread * product.words() + (two ? i / 2 : i);
      f(row + i / 2 % 2 * 8, i / 4 * 8 + thread % 4 * 2 + i % 2, word, i % 2);
    }
  }
}

// f32 arithmetic on a GPU produces a single NaN value (runtime/ptx/prelude.h).
std::uint32_t bits_of(float value) {
  return value == value ? std::bit_cast<std::uint32_t>(value) : 0x7fffffffu;
}
std::uint32_t bits_of(std::uint32_t value) { return value; }

template <class Number>
struct Factors {
  Number a[kRows][kMostDepth];
  Number b[kMostDepth][kMostColumns];
  Number sum[kRows][kMostColumns];
};

template <class Number>
void multiply_as(const WarpgroupProduct& product, std::span<std::uint32_t> sums,
                 std::span<const std::uint32_t> a_registers, Location where) {
  // On the heap: a library loaded later gets only a few bytes of thread-local memory.
  static thread_local const auto factors = std::make_unique<Factors<Number>>();
  auto& a = factors->a; // clang++ 14 cannot capture structured bindings
  auto& b = factors->b;
  auto& sum = factors->sum;
  const unsigned depth = product.depth();
  const auto signed_as = [](bool negates, Number number) { return negates ? -number : number; };
  const auto set_a = [&](unsigned row, unsigned k, Number number) {
    a[row][k] = signed_as(product.negates_a, number);
  };
  if (product.a_in_registers)
    read_registers<Number>(a_registers, product.a_type, set_a);
  else
    read<Number>(units_of_a(product, where), product.a_type, product.a.by_depth, depth, set_a);
  read<Number>(units_of_b(product, where), product.b_type, product.b.by_depth, depth,
               [&](unsigned column, unsigned k, Number number) {
                 b[k][column] = signed_as(product.negates_b, number);
               });
  const bool halves = product.sum_type == SumType::f16;
  for_each_sum(product, [&](unsigned row, unsigned column, unsigned word, unsigned half) {
    const std::uint32_t bits = sums[word];
    if constexpr (std::is_same_v<Number, float>)
      sum[row][column] = halves ? Binary16::to_float(static_cast<std::uint16_t>(bits >> 16 * half))
                                : std::bit_cast<float>(bits);
    else
      sum[row][column] = bits;
    if (!product.adds) sum[row][column] = 0;
  });
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned column = 0; column < product.columns; ++column)
        sum[row][column] += a[row][k] * b[k][column];
  for_each_sum(product, [&](unsigned row, unsigned column, unsigned word, unsigned half) {
    const Number value = sum[row][column];
    if constexpr (std::is_same_v<Number, float>) {
      if (halves) {
        const std::uint32_t bits = Binary16::from_float<Rounding::nearest>(value);
        sums[word] = half == 0 ? bits : (sums[word] & 0xFFFF) | bits << 16;
        return;
      }
    }
    sums[word] = bits_of(value);
  });
}

std::vector<std::uintptr_t> units(const MatrixOperand& operand, ElementType type, unsigned rows,
                                  unsigned depth, Location where) {
  const MatrixDescriptor matrix = decode_matrix(operand.descriptor, where);
  return units_of(matrix, {rows, depth, bytes_of(type), operand.by_depth},
                  operand.window + matrix.first);
}

} // namespace

std::vector<std::uintptr_t> units_of_a(const WarpgroupProduct& product, Location where) {
  return units(product.a, product.a_type, kRows, product.depth(), where);
}
std::vector<std::uintptr_t> units_of_b(const WarpgroupProduct& product, Location where) {
  return units(product.b, product.b_type, product.columns, product.depth(), where);
}

void multiply(const WarpgroupProduct& product, std::span<std::uint32_t> sums,
              std::span<const std::uint32_t> a_registers, Location where) {
  if (product.sum_type == SumType::s32)
    multiply_as<std::uint32_t>(product, sums, a_registers, where); // wraps around
  else
    multiply_as<float>(product, sums, a_registers, where);
}

} // namespace kg::host
