// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// 8-bit floating-point types (OCP 8-bit Floating Point Specification 1.0).
//   e4m3  1 sign bit, 4 exponent bits with a bias of 7, 3 fraction bits; up to 448, no infinities;
//         NaN has all bits except the sign set
//   e5m2  the upper half of an f16: 5 exponent bits, 2 fraction bits; up to 57344, with infinities
#pragma once

#include "runtime/device_code.h"

#include <cstdint>

namespace kg {

struct e4m3 {
  std::uint8_t bits;
};
struct e5m2 {
  std::uint8_t bits;
};

#ifndef __CUDACC_RTC__
template <>
inline constexpr Dtype dtype_of<e4m3> = Dtype::e4m3;
template <>
inline constexpr Dtype dtype_of<e5m2> = Dtype::e5m2;
#endif

} // namespace kg
