// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/element.h"

#include <cstring>

namespace kg::models {

std::vector<std::byte> encoded(std::span<const float> values, Dtype dtype) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  with_element(dtype, [&](auto element) {
    using T = decltype(element);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T value = from_float<T>(values[i]);
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return bytes;
}

std::vector<float> decoded(std::span<const std::byte> bytes, Dtype dtype) {
  std::vector<float> values(bytes.size() / size_of(dtype));
  with_element(dtype, [&](auto element) {
    using T = decltype(element);
    for (std::size_t i = 0; i < values.size(); ++i) {
      T value;
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
      values[i] = to_float(value);
    }
  });
  return values;
}

} // namespace kg::models
