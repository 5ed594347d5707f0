// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// a * b + c as a number without error, and rounded once to a binary format in any direction (IEEE
// 754-2019, 4.3 and 5.4.1). It shares nothing with the executor, whose arithmetic it judges.
#pragma once

#include <cstdint>

namespace kg::test::snippets {

// Of f32, f16 and bfloat16: bits of the significand, and the exponents of its lowest and highest
// binary place.
struct Format {
  int digits;
  int lowest; // of the last place of a subnormal number
  int highest;
};
inline constexpr Format kSingle{24, -149, 127}, kHalf{11, -24, 15}, kBrain{8, -133, 127};

enum class Toward { nearest, zero, down, up }; // nearest: ties to even

// a * b + c, whose operands are values of f32 at most, rounded once to `format`. A NaN is any NaN.
double fused(double a, double b, double c, const Format& format, Toward toward = Toward::nearest);
// `value` rounded to `format`; it may be any double of at most 2^300 that is a multiple of 2^-298.
double rounded(double value, const Format& format, Toward toward = Toward::nearest);

// A value of a format as bits and back. A NaN has the bits that the PTX ISA calls canonical.
std::uint16_t bits_of(double value, const Format& format); // of 16 bits
double value_of(std::uint16_t bits, const Format& format);

} // namespace kg::test::snippets
