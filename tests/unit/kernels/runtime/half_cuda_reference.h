// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA toolkit's own host code for half, bfloat16 and the 8-bit floats, as functions of bits.
// The toolkit defines the same global names as our headers, so it lives in a shared library with
// hidden symbols (half_cuda_reference.cpp): in one program the linker could merge the two
// definitions of an inline function, and the test would compare a thing with itself.
#pragma once

#include <cstdint>

namespace kg::cuda_reference {

// One implementation of one 16-bit format. Operands and results are bits.
struct Format {
  float (*to_float)(std::uint16_t);
  std::uint16_t (*from_float)(float);
  std::uint16_t (*from_float_rn)(float);
  std::uint16_t (*from_float_rz)(float);
  std::uint16_t (*from_float_rd)(float);
  std::uint16_t (*from_float_ru)(float);
  std::uint16_t (*from_double)(double);
  std::uint16_t (*from_int)(int);
  std::uint16_t (*from_long)(long long);
  int (*to_int)(std::uint16_t);
  unsigned (*to_unsigned)(std::uint16_t);
  short (*to_short)(std::uint16_t);
  long long (*to_long)(std::uint16_t);
  unsigned long long (*to_unsigned_long)(std::uint16_t);
  std::uint16_t (*negated)(std::uint16_t);
  std::uint16_t (*absolute)(std::uint16_t);
  std::uint16_t (*sum)(std::uint16_t, std::uint16_t);
  std::uint16_t (*difference)(std::uint16_t, std::uint16_t);
  std::uint16_t (*product)(std::uint16_t, std::uint16_t);
  std::uint16_t (*quotient)(std::uint16_t, std::uint16_t);
  std::uint16_t (*larger)(std::uint16_t, std::uint16_t);
  std::uint16_t (*smaller)(std::uint16_t, std::uint16_t);
  std::uint16_t (*larger_nan)(std::uint16_t, std::uint16_t);
  // One bit for each of == != < > <= >=.
  unsigned (*comparisons)(std::uint16_t, std::uint16_t);
};

// The toolkit's.
__attribute__((visibility("default"))) Format half();
__attribute__((visibility("default"))) Format bfloat16();

// e4m3 or e5m2 of a float, and back.
__attribute__((visibility("default"))) std::uint8_t fp8_bits(float value, bool e5m2, bool saturate);
__attribute__((visibility("default"))) float fp8_value(std::uint8_t bits, bool e5m2);

} // namespace kg::cuda_reference
