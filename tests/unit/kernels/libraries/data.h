// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Small integers and powers of two, whose results every type and every order of summation
// represents exactly, and their way to and from the device. Outputs start poisoned.
#pragma once

#include "runtime/runtime.h"
#include "tests/oracle/numbers.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace kg::vendor {

using Bytes = DeviceBuffer<std::byte>;

inline constexpr std::array kFloats = {Dtype::f32, Dtype::f16, Dtype::bf16};
inline constexpr float kGap =
    992; // between the rows of strided inputs: wrong in every result it reaches; bf16 holds it

// An integer from -4 to 4 that depends on the index without a short period.
inline float small_integer(std::size_t i) {
  return static_cast<float>((i * 7 + i / 9 * 5 + 3) % 9) - 4;
}

inline std::vector<float> small_integers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = small_integer(i);
  return values;
}

// A row-major matrix whose rows are `leading` apart, with kGap between them.
inline std::vector<float> strided(std::int64_t rows, std::int64_t cols, std::int64_t leading) {
  std::vector<float> values(static_cast<std::size_t>(rows * leading), kGap);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      values[static_cast<std::size_t>(i * leading + j)] =
          small_integer(static_cast<std::size_t>(i * cols + j));
  return values;
}

inline bool is_poison(float value) {
  return test::raw_bits(value) == test::poison_bits(Dtype::f32);
}

// Values of any type, to and from the device.
inline Bytes upload(Dtype dtype, const std::vector<double>& values, Stream& stream) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = test::encode(dtype, values[i]);
    std::memcpy(bytes.data() + i * size_of(dtype), &bits, size_of(dtype)); // little-endian
  }
  return Bytes::from_host(bytes, stream);
}

inline std::vector<double> download(Dtype dtype, const Bytes& buffer, Stream& stream) {
  const std::vector<std::byte> bytes = buffer.to_host(stream);
  std::vector<double> values(bytes.size() / size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size_of(dtype), size_of(dtype));
    values[i] = test::decode(dtype, bits);
  }
  buffer.check_guards();
  return values;
}

inline std::vector<float> download(const DeviceBuffer<float>& buffer, Stream& stream) {
  buffer.check_guards();
  return buffer.to_host(stream);
}

// `call` must throw an Error whose text has `part`.
inline void expect_error(const std::function<void()>& call, const std::string& part) {
  std::string text;
  try {
    call();
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_NE(text.find(part), std::string::npos) << "not in: \"" << text << "\"";
}

} // namespace kg::vendor
