// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's integer and bit device functions of one thread, for the host backend, in the global
// namespace.
#pragma once

#include "runtime/host/vector_types.h"

#include <bit>
#include <cstdint>

// Bit casts between integers and floating-point types.
constexpr int __float_as_int(float a) { return std::bit_cast<int>(a); }
constexpr unsigned __float_as_uint(float a) { return std::bit_cast<unsigned>(a); }
constexpr float __int_as_float(int a) { return std::bit_cast<float>(a); }
constexpr float __uint_as_float(unsigned a) { return std::bit_cast<float>(a); }
constexpr long long __double_as_longlong(double a) { return std::bit_cast<long long>(a); }
constexpr double __longlong_as_double(long long a) { return std::bit_cast<double>(a); }
constexpr int __double2hiint(double a) { return static_cast<int>(__double_as_longlong(a) >> 32); }
constexpr int __double2loint(double a) { return static_cast<int>(__double_as_longlong(a)); }
constexpr double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 |
                               static_cast<unsigned>(low));
}

// Bit counts. __ffs is 1 + the index of the lowest set bit, or 0 if no bit is set.
constexpr int __popc(unsigned a) { return std::popcount(a); }
constexpr int __popcll(unsigned long long a) { return std::popcount(a); }
constexpr int __clz(int a) { return std::countl_zero(static_cast<unsigned>(a)); }
constexpr int __clzll(long long a) { return std::countl_zero(static_cast<unsigned long long>(a)); }
constexpr int __ffs(int a) { return a == 0 ? 0 : 1 + std::countr_zero(static_cast<unsigned>(a)); }
constexpr int __ffsll(long long a) {
  return a == 0 ? 0 : 1 + std::countr_zero(static_cast<unsigned long long>(a));
}

// The bits in reverse order: swaps adjacent groups of 1, 2, 4, 8 and 16 bits.
constexpr unsigned __brev(unsigned a) {
  a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
  a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
  a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
  a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
  return a >> 16 | a << 16;
}
constexpr unsigned long long __brevll(unsigned long long a) {
  const std::uint64_t high = __brev(static_cast<unsigned>(a));
  return high << 32 | __brev(static_cast<unsigned>(a >> 32));
}

// Picks four bytes from the eight of y:x; the low 3 bits of each hex digit of the selector name one
// (nvcc masks the fourth bit, which would replicate the sign).
constexpr unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned index = selector >> (4 * i) & 7;
    result |= static_cast<unsigned>(bytes >> (8 * index) & 0xff) << (8 * i);
  }
  return result;
}

// Shifts the 64 bits high:low. _l and _lc return the upper word, _r and _rc the lower. The shift is
// taken modulo 32, or with the suffix c clamped to 32.
constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}
constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}
constexpr unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
constexpr unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

namespace kg::host {
__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;
} // namespace kg::host

// The upper half of a product.
constexpr int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<std::int64_t>(a) * b >> 32);
}
constexpr unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
constexpr long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<kg::host::Int128>(a) * b >> 64);
}
constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<kg::host::Uint128>(a) * b >> 64);
}

// The low 32 bits of the product of the operands' low 24 bits.
constexpr unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
constexpr int __mul24(int a, int b) {
  const int a24 = static_cast<int>(static_cast<unsigned>(a) << 8) >> 8;
  const int b24 = static_cast<int>(static_cast<unsigned>(b) << 8) >> 8;
  return static_cast<int>(static_cast<unsigned>(a24) * static_cast<unsigned>(b24));
}

// |a - b| + c
constexpr unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return (a > b ? a - b : b - a) + c;
}
constexpr unsigned __sad(int a, int b, unsigned c) {
  const unsigned difference = static_cast<unsigned>(a) - static_cast<unsigned>(b);
  return (a > b ? difference : 0 - difference) + c;
}

// Averages without overflow: __rhadd and __urhadd round up, __uhadd down. CUDA's __hadd(int, int)
// is left out, because it would make __hadd(half, float) ambiguous.
constexpr int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b + 1) >> 1);
}
constexpr unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b + 1) >> 1);
}
constexpr unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b) >> 1);
}

// c plus the dot product of four bytes. The sum wraps around, as on a GPU.
constexpr unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
  return c;
}
constexpr int __dp4a(int a, int b, int c) {
  auto sum = static_cast<unsigned>(c);
  for (int i = 0; i < 32; i += 8) {
    sum +=
        static_cast<unsigned>(static_cast<std::int8_t>(a >> i) * static_cast<std::int8_t>(b >> i));
  }
  return static_cast<int>(sum);
}
constexpr int __dp4a(char4 a, char4 b, int c) {
  return __dp4a(std::bit_cast<int>(a), std::bit_cast<int>(b), c);
}
constexpr unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return __dp4a(std::bit_cast<unsigned>(a), std::bit_cast<unsigned>(b), c);
}
