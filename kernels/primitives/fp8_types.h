// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// 8-bit floating-point types (OCP 8-bit Floating Point Specification 1.0).
//   e4m3  a sign, 4 bits of exponent with a bias of 7, 3 of fraction; up to 448, no infinity; what
//         is left when all bits but the sign are set is NaN
//   e5m2  the upper half of an f16: 5 bits of exponent, 2 of fraction; up to 57344, with infinities
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
