// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The element types of tensors, and c10::Half and c10::BFloat16. Unlike __half, both compute in
// float and convert implicitly in both directions.
#pragma once

#include "cuda/source/torch/check.h"
#include "runtime/device_code.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <tuple>
#include <type_traits>

namespace kg::torch {

// Self: the derived type. Device: the CUDA type with the same bits.
template <class Self, class Device>
struct Narrow {
  unsigned short x;

  Narrow() = default;
  template <class T>
  requires std::is_arithmetic_v<T> Narrow(T value) : Narrow(Device(static_cast<float>(value))) {}
  Narrow(Device value) : x(std::bit_cast<unsigned short>(value)) {}
  operator float() const { return static_cast<float>(static_cast<Device>(*this)); }
  explicit operator Device() const { return std::bit_cast<Device>(x); }
  friend Self operator-(Self a) { return Self(-float(a)); }

// With Self or an integer, the result is a Self; with float or double, it has the other type.
#define KG_NARROW_OPERATOR(op)                                                                     \
  friend Self operator op(Self a, Self b) { return Self(float(a) op float(b)); }                   \
  friend Self& operator op##=(Self& a, Self b) { return a = a op b; }                              \
  template <class T>                                                                               \
  requires std::is_arithmetic_v<T>                                                                 \
  friend auto operator op(Self a, T b) {                                                           \
    using Result = std::conditional_t<std::is_integral_v<T>, Self, T>;                             \
    return static_cast<Result>(float(a) op b);                                                     \
  }                                                                                                \
  template <class T>                                                                               \
  requires std::is_arithmetic_v<T>                                                                 \
  friend auto operator op(T a, Self b) {                                                           \
    using Result = std::conditional_t<std::is_integral_v<T>, Self, T>;                             \
    return static_cast<Result>(a op float(b));                                                     \
  }
  KG_NARROW_OPERATOR(+)
  KG_NARROW_OPERATOR(-)
  KG_NARROW_OPERATOR(*)
  KG_NARROW_OPERATOR(/)
#undef KG_NARROW_OPERATOR
};

} // namespace kg::torch

namespace c10 {

struct Half : kg::torch::Narrow<Half, __half> {
  using Narrow::Narrow;
};
struct BFloat16 : kg::torch::Narrow<BFloat16, __nv_bfloat16> {
  using Narrow::Narrow;
};

enum class ScalarType : std::int8_t {
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  Bool,
  BFloat16
};

inline constexpr auto kByte = ScalarType::Byte, kUInt8 = kByte, kChar = ScalarType::Char,
                      kInt8 = kChar, kShort = ScalarType::Short, kInt16 = kShort,
                      kInt = ScalarType::Int, kInt32 = kInt, kLong = ScalarType::Long,
                      kInt64 = kLong, kHalf = ScalarType::Half, kFloat16 = kHalf,
                      kFloat = ScalarType::Float, kFloat32 = kFloat, kDouble = ScalarType::Double,
                      kFloat64 = kDouble, kBool = ScalarType::Bool,
                      kBFloat16 = ScalarType::BFloat16;

} // namespace c10

namespace kg::torch {

// The C++ types, in the order of ScalarType.
using Elements = std::tuple<std::uint8_t, std::int8_t, std::int16_t, int, std::int64_t, c10::Half,
                            float, double, bool, c10::BFloat16>;
template <c10::ScalarType type>
using Element = std::tuple_element_t<static_cast<std::size_t>(type), Elements>;

// Calls use(T{}), where T is the C++ element type.
template <std::size_t i = 0, class Use>
decltype(auto) with_type(c10::ScalarType type, Use use) {
  if constexpr (i + 1 < std::tuple_size_v<Elements>)
    if (static_cast<std::size_t>(type) != i) return with_type<i + 1>(type, use);
  return use(std::tuple_element_t<i, Elements>{});
}

template <class T>
constexpr c10::ScalarType type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return c10::kBool;
  else if constexpr (std::is_same_v<T, c10::Half> || std::is_same_v<T, __half>)
    return c10::kHalf;
  else if constexpr (std::is_same_v<T, c10::BFloat16> || std::is_same_v<T, __nv_bfloat16>)
    return c10::kBFloat16;
  else if constexpr (std::is_same_v<T, float>)
    return c10::kFloat;
  else if constexpr (std::is_same_v<T, double>)
    return c10::kDouble;
  else {
    static_assert(std::is_integral_v<T>, "not a type of a tensor's elements");
    static_assert(sizeof(T) == 1 || std::is_signed_v<T>, "PyTorch has no such unsigned tensors");
    constexpr c10::ScalarType kSigned[] = {c10::kChar, c10::kShort, c10::kInt, c10::kLong};
    return std::is_signed_v<T> ? kSigned[std::countr_zero(sizeof(T))] : c10::kByte;
  }
}

} // namespace kg::torch

namespace c10 {

inline const char* toString(ScalarType type) {
  constexpr const char* kNames[] = {"Byte", "Char",  "Short",  "Int",  "Long",
                                    "Half", "Float", "Double", "Bool", "BFloat16"};
  return kNames[static_cast<int>(type)];
}
inline std::ostream& operator<<(std::ostream& out, ScalarType type) {
  return out << toString(type);
}
inline std::size_t elementSize(ScalarType type) {
  return kg::torch::with_type(type, [](auto element) { return sizeof element; });
}
inline bool isFloatingType(ScalarType type) {
  return type == kHalf || type == kFloat || type == kDouble || type == kBFloat16;
}

} // namespace c10
