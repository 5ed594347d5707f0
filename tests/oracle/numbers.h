// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tests' view of a Dtype's numbers: exact doubles and raw bits. Rounding, encoding and decoding
// are implemented from the formats' definitions (IEEE 754-2019; bfloat16 = the upper half of a
// binary32; e4m3 and e5m2: OCP 8-bit Floating Point Specification 1.0). They share no code with the
// runtime, so a wrong conversion there cannot hide itself.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "runtime/dtype.h"

namespace kg::test {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A binary floating-point format: `precision` significant bits; the exponent limits are those of a
// normal number's leading bit.
struct FloatFormat {
  int precision;
  int min_exponent;
  int max_exponent;
};

// Throws for integers, which have no exponent.
FloatFormat float_format(Dtype dtype);

// The nearest number of `dtype`, ties to even, with gradual underflow, overflow to infinity and the
// sign of zero kept. NaN stays NaN; e4m3 maps everything out of range to NaN. For integer types the
// nearest integer; throws if it does not fit.
double round_to(Dtype dtype, double value);

// f32 numbers as cvt.rna.tf32.f32 rounds them: 11 significant bits, ties away from zero (PTX ISA,
// cvt). NaN and infinities are unchanged.
std::vector<double> tf32_rounded(std::span<const double> values);

bool is_representable(Dtype dtype, double value);

double min_subnormal(Dtype dtype);
double max_finite(Dtype dtype);

// The spacing of `dtype` in the binade of `value`: 2^(e - p + 1); the smallest subnormal around 0;
// the last binade's spacing beyond it. 1 for integers; for an i64 beyond 2^53 the spacing of
// doubles. `value` must be finite.
double ulp(Dtype dtype, double value);

// The next number away from zero after a representable one: infinity for max_finite.
double next_away(Dtype dtype, double value);

// The exact value of a bit pattern; for an i64 beyond 2^53 a nearby double. Information that a
// double cannot hold, such as a NaN's payload, is lost: use the bits instead.
double decode(Dtype dtype, std::uint64_t bits);

// The bit pattern of a representable value, NaN as the positive quiet NaN without payload. Throws
// if the value is not representable: rounding is the caller's decision.
std::uint64_t encode(Dtype dtype, double value);

// The patterns of representable values, in memory order; throws like `encode`. `bytes` has exactly
// the size of the values.
void encode_bytes(Dtype dtype, std::span<const double> values, std::span<std::byte> bytes);

// The same for patterns.
void store_bits(Dtype dtype, std::span<const std::uint64_t> bits, std::span<std::byte> bytes);

// All bits one: hygiene.h writes this into outputs before a kernel runs. NaN in every float format.
std::uint64_t poison_bits(Dtype dtype);

// The Dtype of an element type. Specialise it for further types, for example __half, with `static
// constexpr Dtype value`; the type must be trivially copyable and as wide as its Dtype. Nothing
// else is needed: values are decoded from bits here.
template <typename T>
struct DtypeOf;
template <>
struct DtypeOf<float> {
  static constexpr Dtype value = Dtype::f32;
};
template <>
struct DtypeOf<double> {
  static constexpr Dtype value = Dtype::f64;
};
template <>
struct DtypeOf<std::int32_t> {
  static constexpr Dtype value = Dtype::i32;
};
template <>
struct DtypeOf<std::int8_t> {
  static constexpr Dtype value = Dtype::i8;
};
template <>
struct DtypeOf<std::uint32_t> {
  static constexpr Dtype value = Dtype::u32;
};
template <>
struct DtypeOf<std::int64_t> {
  static constexpr Dtype value = Dtype::i64;
};

// The bits of one element, zero-extended.
template <typename T>
std::uint64_t raw_bits(const T& element) {
  static_assert(sizeof(T) == size_of(DtypeOf<T>::value) && sizeof(T) <= sizeof(std::uint64_t));
  if constexpr (sizeof(T) == 1) {
    return std::bit_cast<std::uint8_t>(element);
  } else if constexpr (sizeof(T) == 2) {
    std::uint16_t bits;
    std::memcpy(&bits, &element, sizeof bits);
    return bits;
  } else if constexpr (sizeof(T) == 4) {
    std::uint32_t bits;
    std::memcpy(&bits, &element, sizeof bits);
    return bits;
  } else {
    std::uint64_t bits;
    std::memcpy(&bits, &element, sizeof bits);
    return bits;
  }
}

template <typename T>
T from_raw_bits(std::uint64_t bits) {
  static_assert(sizeof(T) == size_of(DtypeOf<T>::value));
  T element;
  if constexpr (sizeof(T) == 1) {
    element = std::bit_cast<T>(static_cast<std::uint8_t>(bits));
  } else if constexpr (sizeof(T) == 2) {
    const auto narrow = static_cast<std::uint16_t>(bits);
    std::memcpy(static_cast<void*>(&element), &narrow, sizeof narrow);
  } else if constexpr (sizeof(T) == 4) {
    const auto narrow = static_cast<std::uint32_t>(bits);
    std::memcpy(static_cast<void*>(&element), &narrow, sizeof narrow);
  } else {
    std::memcpy(static_cast<void*>(&element), &bits, sizeof bits);
  }
  return element;
}

// The exact value of one element.
template <typename T>
double to_double(const T& element) {
  return decode(DtypeOf<T>::value, raw_bits(element));
}

// A kernel's output: each element as a value and as bits. `bits` may be empty for values that were
// never stored.
struct Observed {
  Dtype dtype;
  std::vector<double> values;
  std::vector<std::uint64_t> bits;
};

// Elements of `dtype` in memory order; `append_bytes` appends them to `seen`.
Observed observe_bytes(Dtype dtype, std::span<const std::byte> bytes);
void append_bytes(Observed& seen, std::span<const std::byte> bytes);

template <typename T>
Observed observe(std::span<const T> elements) {
  Observed seen{DtypeOf<T>::value, {}, {}};
  seen.values.reserve(elements.size());
  seen.bits.reserve(elements.size());
  for (const T& element : elements) {
    seen.values.push_back(to_double(element));
    seen.bits.push_back(raw_bits(element));
  }
  return seen;
}
template <typename T>
Observed observe(const std::vector<T>& elements) {
  return observe(std::span<const T>(elements));
}

// Elements with exactly these values; throws if one is not representable in T.
template <typename T>
std::vector<T> elements(std::span<const double> values) {
  std::vector<T> stored;
  stored.reserve(values.size());
  for (const double value : values)
    stored.push_back(from_raw_bits<T>(encode(DtypeOf<T>::value, value)));
  return stored;
}

template <typename T>
std::vector<T> elements_of_bits(std::span<const std::uint64_t> bits) {
  std::vector<T> stored;
  stored.reserve(bits.size());
  for (const std::uint64_t pattern : bits) stored.push_back(from_raw_bits<T>(pattern));
  return stored;
}

} // namespace kg::test
