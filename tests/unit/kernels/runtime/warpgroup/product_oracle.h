// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of product_ptx.h have to give, bit by bit: each element looked up by the
// canonical layout, products added one by one in ascending order of k.
#pragma once

#include "runtime/host/half.h"
#include "tests/unit/kernels/runtime/warpgroup/product_ptx.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace kg::warpgroup {

inline unsigned bytes_of(const std::string& type) {
  return type == "tf32" ? 4 : type == "f16" || type == "bf16" ? 2 : 1;
}

inline double number(const std::string& type, std::uint32_t raw) {
  if (type == "tf32") return std::bit_cast<float>(raw >> 13 << 13);
  if (type == "bf16") return std::bit_cast<float>(raw << 16);
  if (type == "s8") return static_cast<std::int8_t>(raw);
  if (type == "u8") return raw;
  const int fraction_bits = type == "f16" ? 10 : type == "e4m3" ? 3 : 2;
  const int exponent_bits = type == "e4m3" ? 4 : 5;
  const int exponent = static_cast<int>(raw >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(raw) & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double size =
      exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                    : std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  return raw >> (fraction_bits + exponent_bits) & 1 ? -size : size;
}

// Elements, not NaN and not large, of random bits.
inline void fill(std::vector<std::uint32_t>& words, std::size_t first, std::size_t count,
                 const std::string& type, std::mt19937& random) {
  auto* const bytes = reinterpret_cast<unsigned char*>(words.data() + first);
  const unsigned width = bytes_of(type);
  for (std::size_t at = 0; at < 4 * count; at += width) {
    std::uint32_t raw = random();
    const std::uint32_t low = raw & 0xFFFFFF;
    if (type == "tf32") raw = (raw & 0x80000000) | (0x3F000000 + low);
    if (type == "bf16") raw = (raw & 0x8000) | (0x3F00 + (low & 0xFF));
    if (type == "f16") raw = (raw & 0x8000) | (0x3000 + (low & 0x0FFF));
    if (type == "e4m3") raw = (raw & 0x80) | (low & 0x3F);
    if (type == "e5m2") raw = (raw & 0x80) | (0x30 + (low & 0x0F));
    std::memcpy(bytes + at, &raw, width);
  }
}

inline Input random_input(const Product& p) {
  std::mt19937 random(1);
  Input input;
  input.shared.resize(p.shared_bytes() / 4);
  for (unsigned step = 0; step < p.steps; ++step) {
    fill(input.shared, p.tile_of_a(step) / 4, kTileBytes / 4, p.a_type, random);
    fill(input.shared, p.tile_of_b(step) / 4, kTileBytes / 4, p.b_type, random);
  }
  if (p.a_in_registers) {
    input.a_registers.resize(std::size_t{4} * kThreads * p.steps);
    fill(input.a_registers, 0, input.a_registers.size(), p.a_type, random);
  }
  input.sums.resize(std::size_t{kThreads} * p.words());
  for (std::uint32_t& word : input.sums)
    word = p.sum_type == "s32"   ? random()
           : p.sum_type == "f16" ? 0x3C003800 + (random() & 0x80008000)
                                 : std::bit_cast<std::uint32_t>(static_cast<float>(random() % 64));
  return input;
}

inline std::vector<std::uint32_t> expected(const Product& p, const Input& input) {
  const auto* const shared = reinterpret_cast<const unsigned char*>(input.shared.data());
  const auto element = [](const unsigned char* at, const std::string& type) {
    std::uint32_t raw = 0;
    std::memcpy(&raw, at, bytes_of(type));
    return number(type, raw);
  };
  const auto a_at = [&](unsigned step, unsigned row, unsigned k) {
    if (!p.a_in_registers)
      return element(shared + p.tile_of_a(step) + p.a.offset(row, k), p.a_type);
    // Thread 4 r + c of warp w: rows 16 w + r and + 8, in turn; columns by c, then as far again.
    const unsigned width = bytes_of(p.a_type), in_word = 4 / width;
    const unsigned thread = row / 16 * 32 + row % 8 * 4 + k / in_word % 4;
    const unsigned word = row / 8 % 2 + k / (4 * in_word) * 2;
    const auto* const at = reinterpret_cast<const unsigned char*>(
        &input.a_registers[(step * kThreads + thread) * 4 + word]);
    return element(at + k % in_word * width, p.a_type);
  };
  const auto b_at = [&](unsigned step, unsigned k, unsigned column) {
    return element(shared + p.tile_of_b(step) + p.b.offset(column, k), p.b_type);
  };
  std::vector<std::uint32_t> sums = input.sums;
  const bool halves = p.sum_type == "f16";
  for (unsigned row = 0; row < kRows; ++row) {
    for (unsigned column = 0; column < p.columns; ++column) {
      const unsigned thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
      const unsigned index = column / 8 * 4 + row / 8 % 2 * 2 + column % 2;
      std::uint32_t& word = sums[thread * p.words() + (halves ? index / 2 : index)];
      const unsigned shift = halves ? index % 2 * 16 : 0;
      for (unsigned step = 0; step < p.steps; ++step) {
        const bool adds = p.adds || step > 0;
        if (p.sum_type == "s32") {
          std::uint32_t sum = adds ? word : 0;
          for (unsigned k = 0; k < p.depth(); ++k)
            sum += static_cast<std::uint32_t>(
                static_cast<std::int32_t>(a_at(step, row, k) * b_at(step, k, column)));
          word = sum;
          continue;
        }
        float sum = !adds    ? 0.f
                    : halves ? static_cast<float>(number("f16", word >> shift & 0xFFFF))
                             : std::bit_cast<float>(word);
        for (unsigned k = 0; k < p.depth(); ++k)
          sum += static_cast<float>(p.sign_a * a_at(step, row, k)) *
                 static_cast<float>(p.sign_b * b_at(step, k, column));
        word = halves ? (word & ~(0xFFFFu << shift)) |
                            host::Binary16::from_float<host::Rounding::nearest>(sum) << shift
                      : std::bit_cast<std::uint32_t>(sum);
      }
    }
  }
  return sums;
}

} // namespace kg::warpgroup
