// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills the table of half_cuda_reference.h from whichever __half and __nv_bfloat16 the including
// file sees: once the toolkit's, once ours. Templates in an unnamed namespace, so that the two
// instantiations stay apart.
#pragma once

#include "tests/unit/kernels/runtime/half_cuda_reference.h"

#include <cstdint>
#include <cstring>

namespace {

// T and its bits; T is trivially copyable but, in the toolkit, has no public bits.
template <class T>
T of_bits(std::uint16_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof bits);
  return value;
}
template <class T>
std::uint16_t to_bits(T value) {
  std::uint16_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <class T>
void fill_operations(kg::cuda_reference::Format& format) {
  using Bits = std::uint16_t;
  format.to_float = [](Bits a) { return static_cast<float>(of_bits<T>(a)); };
  format.from_float = [](float a) { return to_bits(T(a)); };
  format.from_double = [](double a) { return to_bits(T(a)); };
  format.from_int = [](int a) { return to_bits(T(a)); };
  format.from_long = [](long long a) { return to_bits(T(a)); };
  format.to_int = [](Bits a) { return static_cast<int>(of_bits<T>(a)); };
  format.to_unsigned = [](Bits a) { return static_cast<unsigned>(of_bits<T>(a)); };
  format.to_short = [](Bits a) { return static_cast<short>(of_bits<T>(a)); };
  format.to_long = [](Bits a) { return static_cast<long long>(of_bits<T>(a)); };
  format.to_unsigned_long = [](Bits a) { return static_cast<unsigned long long>(of_bits<T>(a)); };
  format.negated = [](Bits a) { return to_bits(-of_bits<T>(a)); };
  format.absolute = [](Bits a) { return to_bits(__habs(of_bits<T>(a))); };
  format.sum = [](Bits a, Bits b) { return to_bits(of_bits<T>(a) + of_bits<T>(b)); };
  format.difference = [](Bits a, Bits b) { return to_bits(of_bits<T>(a) - of_bits<T>(b)); };
  format.product = [](Bits a, Bits b) { return to_bits(of_bits<T>(a) * of_bits<T>(b)); };
  format.quotient = [](Bits a, Bits b) { return to_bits(of_bits<T>(a) / of_bits<T>(b)); };
  format.larger = [](Bits a, Bits b) { return to_bits(__hmax(of_bits<T>(a), of_bits<T>(b))); };
  format.smaller = [](Bits a, Bits b) { return to_bits(__hmin(of_bits<T>(a), of_bits<T>(b))); };
  format.larger_nan = [](Bits a, Bits b) {
    return to_bits(__hmax_nan(of_bits<T>(a), of_bits<T>(b)));
  };
  format.comparisons = [](Bits a_bits, Bits b_bits) {
    const T a = of_bits<T>(a_bits);
    const T b = of_bits<T>(b_bits);
    return unsigned{a == b} | unsigned{a != b} << 1 | unsigned{a < b} << 2 | unsigned{a > b} << 3 |
           unsigned{a <= b} << 4 | unsigned{a >= b} << 5;
  };
}

kg::cuda_reference::Format half_table() {
  kg::cuda_reference::Format format;
  fill_operations<__half>(format);
  format.from_float_rn = [](float a) { return to_bits(__float2half_rn(a)); };
  format.from_float_rz = [](float a) { return to_bits(__float2half_rz(a)); };
  format.from_float_rd = [](float a) { return to_bits(__float2half_rd(a)); };
  format.from_float_ru = [](float a) { return to_bits(__float2half_ru(a)); };
  return format;
}

kg::cuda_reference::Format bfloat16_table() {
  kg::cuda_reference::Format format;
  fill_operations<__nv_bfloat16>(format);
  format.from_float_rn = [](float a) { return to_bits(__float2bfloat16_rn(a)); };
  format.from_float_rz = [](float a) { return to_bits(__float2bfloat16_rz(a)); };
  format.from_float_rd = [](float a) { return to_bits(__float2bfloat16_rd(a)); };
  format.from_float_ru = [](float a) { return to_bits(__float2bfloat16_ru(a)); };
  return format;
}

} // namespace
