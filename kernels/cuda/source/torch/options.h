// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor's device and element type, and lists of sizes.
#pragma once

#include "cuda/source/torch/scalar_type.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace c10 {

enum class DeviceType : std::int8_t { CPU, CUDA };
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
using DeviceIndex = std::int8_t;

class Device {
 public:
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  Device(std::string_view name) : type_(name.starts_with("cuda") ? kCUDA : kCPU) {
    TORCH_CHECK(name == "cpu" || name == "cuda" || name == "cuda:0", "there is no device ", name);
  }
  Device(const char* name) : Device(std::string_view(name)) {}
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return is_cuda() ? 0 : index_; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_cpu() const { return type_ == kCPU; }
  bool operator==(const Device& other) const { return type_ == other.type_; }

 private:
  DeviceType type_;
  DeviceIndex index_ = -1;
};
inline std::ostream& operator<<(std::ostream& out, const Device& device) {
  return out << (device.is_cuda() ? "cuda:0" : "cpu");
}

// A non-owning view of elements.
template <class T>
class ArrayRef {
 public:
  ArrayRef() = default;
  ArrayRef(const T* data, std::size_t size) : data_(data), size_(size) {}
  ArrayRef(const std::vector<T>& all) : data_(all.data()), size_(all.size()) {}
  ArrayRef(const std::initializer_list<T>& all) : ArrayRef(std::data(all), all.size()) {}
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& operator[](std::size_t at) const { return data_[at]; }
  const T& at(std::size_t at) const {
    TORCH_CHECK(at < size_, "there is no element ", at, " of ", size_);
    return data_[at];
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  ArrayRef slice(std::size_t from, std::size_t count) const { return {data_ + from, count}; }
  std::vector<T> vec() const { return {begin(), end()}; }
  bool equals(ArrayRef other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }
  friend bool operator==(ArrayRef a, ArrayRef b) { return a.equals(b); }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};
using IntArrayRef = ArrayRef<std::int64_t>;
inline std::ostream& operator<<(std::ostream& out, IntArrayRef all) {
  const char* before = "[";
  for (const std::int64_t one : all) out << std::exchange(before, ", ") << one;
  return out << (all.empty() ? "[]" : "]");
}

// Options other than the element type and the device are accepted and ignored.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(device) {}
  TensorOptions dtype(ScalarType type) const { return {type, device_}; }
  TensorOptions device(Device device) const { return {type_, device}; }
  TensorOptions device(DeviceType type, DeviceIndex = -1) const { return {type_, type}; }
  TensorOptions requires_grad(bool) const { return *this; }
  template <class Layout>
  TensorOptions layout(Layout) const {
    return *this;
  }
  ScalarType dtype() const { return type_; }
  Device device() const { return device_; }

 private:
  TensorOptions(ScalarType type, Device device) : type_(type), device_(device) {}
  ScalarType type_ = kFloat;
  Device device_ = kCPU;
};

} // namespace c10
