// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A typed array in device memory.
#pragma once

#include "runtime/error.h"
#include "runtime/memory.h"

#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kg {

// Owns `size` elements between guard bands. Move-only, so every copy of device memory is explicit.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory is copied byte by byte");

 public:
  DeviceBuffer() = default;

  // Poisoned: every byte 0xFF.
  explicit DeviceBuffer(std::size_t size) : allocation_(bytes_of(size)) {}

  static DeviceBuffer from_host(std::span<const T> values, Stream& stream) {
    DeviceBuffer buffer(values.size());
    buffer.copy_from(values, stream);
    return buffer;
  }

  T* data() const { return static_cast<T*>(allocation_.data()); }
  std::size_t size() const { return bytes() / sizeof(T); }
  std::size_t bytes() const { return allocation_.bytes(); }

  void copy_from(std::span<const T> values, Stream& stream) {
    require(values.size() == size(), "DeviceBuffer::copy_from: " + std::to_string(values.size()) +
                                         " values for a buffer of " + std::to_string(size()) +
                                         "; the sizes must be equal");
    copy_to_device(data(), values.data(), bytes(), stream);
  }

  std::vector<T> to_host(Stream& stream) const {
    std::vector<T> values(size());
    copy_to_host(values.data(), data(), bytes(), stream);
    return values;
  }

  void poison(Stream& stream) { kg::poison(data(), bytes(), stream); }
  void check_guards() const { allocation_.check_guards(); }

 private:
  // A size that is negative or whose byte count overflows maps to a size that Allocation rejects.
  static constexpr std::size_t bytes_of(std::size_t size) {
    return size <= std::numeric_limits<std::size_t>::max() / sizeof(T)
               ? size * sizeof(T)
               : std::numeric_limits<std::size_t>::max();
  }

  Allocation allocation_;
};

} // namespace kg
