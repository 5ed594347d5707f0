// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The types of PTX, and the integer instructions for which C++ has no operator. Unsigned types make
// arithmetic wrap around. Part of prelude.h, which code translated from PTX includes.
#pragma once

namespace kg::ptx_run {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long;
using s8 = signed char;
using s16 = short;
using s32 = int;
using s64 = long;
__extension__ typedef __int128 s128; // not in ISO C++
__extension__ typedef unsigned __int128 u128;
using f32 = float;
using f64 = double;

template <class T>
inline T shift_left(T value, u32 by) {
  return by < 8 * sizeof(T) ? static_cast<T>(value << by) : T{0};
}
// A signed type shifts in its sign.
template <class T>
inline T shift_right(T value, u32 by) {
  constexpr u32 most = 8 * sizeof(T) - 1;
  if (by <= most) return static_cast<T>(value >> by);
  return value < 0 ? static_cast<T>(-1) : T{0};
}
// A quotient by zero is unspecified; hardware returns all ones.
template <class T>
inline T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (static_cast<T>(-1) < 0 && b == static_cast<T>(-1))
    return static_cast<T>(-static_cast<u64>(a));
  return static_cast<T>(a / b);
}
template <class T>
inline T remainder(T a, T b) {
  if (b == 0) return a;
  if (static_cast<T>(-1) < 0 && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}
// The low bits of a + b + carry or a - b - carry, and whether it needs another bit. `out` may be
// null.
template <class T>
T sum_with_carry(T a, T b, bool carry, bool* out) {
  T sum = 0;
  const bool first = __builtin_add_overflow(a, b, &sum);
  const bool second = __builtin_add_overflow(sum, static_cast<T>(carry), &sum);
  if (out) *out = first || second;
  return sum;
}
template <class T>
T difference_with_carry(T a, T b, bool carry, bool* out) {
  T difference = 0;
  const bool first = __builtin_sub_overflow(a, b, &difference);
  const bool second = __builtin_sub_overflow(difference, static_cast<T>(carry), &difference);
  if (out) *out = first || second;
  return difference;
}
inline u32 high_product(u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(a) * b >> 32); }
inline u32 high_product(s32 a, s32 b) { return static_cast<u32>(static_cast<s64>(a) * b >> 32); }
inline u64 high_product(u64 a, u64 b) { return static_cast<u64>(static_cast<u128>(a) * b >> 64); }
inline u64 high_product(s64 a, s64 b) { return static_cast<u64>(static_cast<s128>(a) * b >> 64); }
inline u32 byte_permute(u32 a, u32 b, u32 selector) {
  const u64 bytes = static_cast<u64>(b) << 32 | a;
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 choice = selector >> 4 * i & 15;
    u32 byte = static_cast<u32>(bytes >> 8 * (choice & 7)) & 0xff;
    if ((choice & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}
inline u32 three_input_logic(u32 a, u32 b, u32 c, u32 table) {
  u32 result = 0;
  for (u32 i = 0; i < 8; ++i)
    if ((table >> i & 1) != 0)
      result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  return result;
}
inline u32 funnel_left(u32 a, u32 b, u32 by) {
  return by == 0 ? b : by >= 32 ? a : b << by | a >> (32 - by);
}
inline u32 funnel_right(u32 a, u32 b, u32 by) {
  return by == 0 ? a : by >= 32 ? b : b << (32 - by) | a >> by;
}
// Mask for the position and the length of a bit field of T. The PTX ISA restricts both to 0 to 255,
// and uses eight bits of them. The 32-bit instructions do so. The 64-bit ones used the whole words
// on an H200. No program should rely on values above 255.
template <class T>
constexpr u32 kFieldMask = sizeof(T) == 4 ? 255 : ~0u;
template <class T> // u32, s32, u64, s64
inline T extract_bits(T value, u32 at, u32 length) {
  constexpr u32 width = 8 * sizeof(T);
  at &= kFieldMask<T>;
  length &= kFieldMask<T>;
  const bool negative = value < 0 && static_cast<T>(-1) < 0;
  if (length == 0) return 0;
  if (at >= width) return negative ? static_cast<T>(-1) : T{0};
  if (length >= width - at) return shift_right(value, at);
  return shift_right(static_cast<T>(shift_left(value, width - at - length)), width - length);
}
template <class T> // u32 or u64
inline T insert_bits(T from, T into, u32 at, u32 length) {
  at &= kFieldMask<T>;
  length &= kFieldMask<T>;
  const T ones = length >= 8 * sizeof(T) ? ~T{0} : static_cast<T>((T{1} << length) - 1);
  const T mask = shift_left<T>(ones, at);
  return (into & ~mask) | (shift_left<T>(from, at) & mask);
}
// The position of the highest non-sign bit, or its distance from the top. All ones: there is none.
template <class T>
inline u32 highest_bit(T value, bool amount) {
  constexpr u32 top = 8 * sizeof(T) - 1;
  const u64 bits = static_cast<T>(value < 0 ? ~value : value);
  if (bits == 0) return ~0u;
  const u32 at = 63 - static_cast<u32>(__builtin_clzl(bits));
  return amount ? top - at : at;
}
// Four products of bytes, each signed or not, plus c.
inline s32 byte_of(u32 word, bool is_signed) {
  return is_signed ? static_cast<s8>(word) : static_cast<s32>(word & 255);
}
inline u32 dot_of_bytes(u32 a, bool a_signed, u32 b, bool b_signed, u32 c) {
  for (u32 i = 0; i < 32; i += 8)
    c += static_cast<u32>(byte_of(a >> i, a_signed) * byte_of(b >> i, b_signed));
  return c;
}
template <class T> // u32 or u64
inline T reverse_bits(T value) {
  constexpr u32 width = 8 * sizeof(T);
  T result = 0;
  for (u32 i = 0; i < width; ++i) result |= (value >> i & 1) << (width - 1 - i);
  return result;
}

} // namespace kg::ptx_run
