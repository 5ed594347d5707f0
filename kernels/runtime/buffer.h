// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A typed array in device memory.
#pragma once

#include "runtime/error.h"
#include "runtime/memory.h"

#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kg {

// Owns `size` elements between guard bands; move-only, so that a copy of device memory is always written down.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory is copied byte by byte");

public:
  DeviceBuffer() = default;

  // Poisoned: every byte 0xFF.
  explicit DeviceBuffer(std::size_t size) : allocation_(size * sizeof(T)), size_(size) {}

  static DeviceBuffer from_host(std::span<const T> values, Stream& stream) {
    DeviceBuffer buffer(values.size());
    buffer.copy_from(values, stream);
    return buffer;
  }

  T* data() const { return static_cast<T*>(allocation_.data()); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  void copy_from(std::span<const T> values, Stream& stream) {
    require(values.size() == size_, "DeviceBuffer::copy_from: " + std::to_string(values.size()) +
                                        " values for a buffer of " + std::to_string(size_) +
                                        "; the sizes must be equal");
    copy_to_device(data(), values.data(), bytes(), stream);
  }

  std::vector<T> to_host(Stream& stream) const {
    std::vector<T> values(size_);
    copy_to_host(values.data(), data(), bytes(), stream);
    return values;
  }

  void poison(Stream& stream) { fill_bytes(data(), kPoisonByte, bytes(), stream); }
  void check_guards() const { allocation_.check_guards(); }

private:
  Allocation allocation_;
  std::size_t size_ = 0;
};

} // namespace kg
