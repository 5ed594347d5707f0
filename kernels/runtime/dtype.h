// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The element types and their names. Plain C++, for files that must not include the device's vector
// types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/enumerators.h"

namespace kg {

// Case ids, CSV files and test names use these names. e4m3 and e5m2 are 8-bit floating-point types
// (primitives/fp8.h).
enum class Dtype { f32, f16, bf16, f64, i32, i8, e4m3, e5m2, u32, i64 };

// Integers: no NaN, no infinity, one zero.
constexpr bool is_integer(Dtype dtype) {
  return dtype == Dtype::i8 || dtype == Dtype::i32 || dtype == Dtype::u32 || dtype == Dtype::i64;
}

// Bytes per element.
constexpr std::size_t size_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return 4;
  case Dtype::f16: return 2;
  case Dtype::bf16: return 2;
  case Dtype::f64: return 8;
  case Dtype::i32: return 4;
  case Dtype::i8: return 1;
  case Dtype::e4m3: return 1;
  case Dtype::e5m2: return 1;
  case Dtype::u32: return 4;
  case Dtype::i64: return 8;
  }
  return 0;
}

// Unit roundoff u: half the distance from 1 to the next number. IEEE 754 binary32, binary16 and
// binary64; bfloat16 has 8 significant bits, e4m3 4, e5m2 3. Zero for integers, whose arithmetic is
// exact.
constexpr double unit_roundoff(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return 0x1p-24;
  case Dtype::f16: return 0x1p-11;
  case Dtype::bf16: return 0x1p-8;
  case Dtype::f64: return 0x1p-53;
  case Dtype::i32:
  case Dtype::i8:
  case Dtype::u32:
  case Dtype::i64: return 0;
  case Dtype::e4m3: return 0x1p-4;
  case Dtype::e5m2: return 0x1p-3;
  }
  return 0;
}

} // namespace kg
