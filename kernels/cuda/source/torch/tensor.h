// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// at::Tensor on the emulator, for kernel launchers: elements in host or device memory, with sizes,
// strides and views. Device tensors come from cudaMalloc, so the checkers know their bounds and
// report a kernel that is given a host tensor. There is little arithmetic (arithmetic.h) and no
// autograd.
#pragma once

#include "cuda/source/torch/accessor.h"
#include "cuda/source/torch/options.h"
#include "runtime/host/device_memory.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <vector>

namespace kg::torch {

// Uninitialized host or device memory.
class Storage {
 public:
  Storage(std::size_t bytes, bool on_device) : on_device_(on_device) {
    if (on_device) host::host_libraries_read = true;
    if (on_device && bytes != 0)
      C10_CUDA_CHECK(cudaMalloc(&data_, bytes));
    else if (bytes != 0)
      data_ = ::operator new(bytes);
  }
  Storage(const Storage&) = delete;
  ~Storage() {
    if (on_device_)
      cudaFree(data_);
    else
      ::operator delete(data_);
  }
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
  bool on_device_;
};

} // namespace kg::torch

namespace at {
using namespace c10;

// Older sources query the element type and the device through this class.
class TensorType {
 public:
  TensorType(ScalarType type, bool is_cuda) : type_(type), is_cuda_(is_cuda) {}
  operator ScalarType() const { return type_; }
  ScalarType scalarType() const { return type_; }
  bool is_cuda() const { return is_cuda_; }

 private:
  ScalarType type_;
  bool is_cuda_;
};

class Tensor {
 public:
  Tensor() = default; // defined() is false
  Tensor(IntArrayRef sizes, TensorOptions options) : sizes_(sizes.vec()), options_(options) {
    for (const std::int64_t size : sizes) TORCH_CHECK(size >= 0, "a tensor of size ", size);
    strides_ = contiguous_strides();
    storage_ = std::make_shared<kg::torch::Storage>(nbytes(), is_cuda());
  }

  bool defined() const { return storage_ != nullptr; }
  std::int64_t dim() const { return static_cast<std::int64_t>(sizes_.size()); }
  std::int64_t ndimension() const { return dim(); }
  std::int64_t size(std::int64_t at) const { return sizes_[axis(at)]; }
  IntArrayRef sizes() const { return sizes_; }
  std::int64_t stride(std::int64_t at) const { return strides_[axis(at)]; }
  IntArrayRef strides() const { return strides_; }
  std::int64_t storage_offset() const { return offset_; }
  std::int64_t numel() const {
    std::int64_t all = 1;
    for (const std::int64_t size : sizes_) all *= size;
    return all;
  }
  std::size_t element_size() const { return elementSize(scalar_type()); }
  std::size_t nbytes() const { return static_cast<std::size_t>(numel()) * element_size(); }
  ScalarType scalar_type() const { return options_.dtype(); }
  ScalarType dtype() const { return scalar_type(); }
  TensorType type() const { return {scalar_type(), is_cuda()}; }
  TensorOptions options() const { return options_; }
  Device device() const { return options_.device(); }
  DeviceIndex get_device() const { return device().index(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool is_contiguous() const { return numel() == 0 || same_layout(contiguous_strides()); }

  void* data_ptr() const {
    return defined() ? storage_->data() + offset_ * element_size() : nullptr;
  }
  template <class T>
  T* data_ptr() const {
    using Element = std::remove_const_t<T>;
    TORCH_CHECK(kg::torch::type_of<Element>() == scalar_type(), "expected scalar type ",
                kg::torch::type_of<Element>(), " but found ", scalar_type());
    return static_cast<T*>(data_ptr());
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }

  template <class T, std::size_t dimensions>
  TensorAccessor<T, dimensions> accessor() const& {
    return accessor_of<TensorAccessor<T, dimensions>, T, dimensions>();
  }
  template <class T, std::size_t dimensions>
  TensorAccessor<T, dimensions> accessor() && = delete; // the sizes would dangle
  template <class T, std::size_t dimensions, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor32<T, dimensions> packed_accessor32() const {
    return accessor_of<PackedTensorAccessor32<T, dimensions>, T, dimensions>();
  }
  template <class T, std::size_t dimensions, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor64<T, dimensions> packed_accessor64() const {
    return accessor_of<PackedTensorAccessor64<T, dimensions>, T, dimensions>();
  }
  template <class T, std::size_t dimensions, template <class> class Traits = DefaultPtrTraits,
            class Index = std::int64_t>
  PackedTensorAccessor<T, dimensions, Traits, Index> packed_accessor() const {
    return accessor_of<PackedTensorAccessor<T, dimensions, Traits, Index>, T, dimensions>();
  }

  Tensor contiguous() const { return is_contiguous() ? *this : clone(); }
  Tensor clone() const { return copied(options_); }
  Tensor detach() const { return *this; }
  Tensor to(TensorOptions options) const {
    return options.dtype() == scalar_type() && options.device() == device() ? *this
                                                                            : copied(options);
  }
  Tensor to(ScalarType type) const { return to(options_.dtype(type)); }
  Tensor to(Device device) const { return to(options_.device(device)); }
  Tensor to(DeviceType device) const { return to(options_.device(device)); }
  Tensor to(Device device, ScalarType type) const {
    return to(options_.device(device).dtype(type));
  }
  Tensor cuda() const { return to(kCUDA); }
  Tensor cpu() const { return to(kCPU); }

  // Views share the elements.
  Tensor view(IntArrayRef sizes) const {
    TORCH_CHECK(is_contiguous(), "view of a tensor that is not contiguous; use reshape");
    Tensor result = *this;
    result.sizes_ = sizes.vec();
    std::int64_t known = 1, *open = nullptr;
    for (std::int64_t& size : result.sizes_) {
      if (size == -1)
        open = &size;
      else
        known *= size;
    }
    if (open != nullptr) *open = known == 0 ? 0 : numel() / known;
    TORCH_CHECK(result.numel() == numel(), "no view ", sizes, " of ", this->sizes());
    result.strides_ = result.contiguous_strides();
    return result;
  }
  Tensor reshape(IntArrayRef sizes) const { return contiguous().view(sizes); }
  Tensor flatten(std::int64_t first = 0, std::int64_t last = -1) const {
    std::vector<std::int64_t> sizes(sizes_.begin(), sizes_.begin() + axis(first));
    sizes.push_back(1);
    for (std::size_t i = axis(first); i < sizes_.size(); ++i) {
      if (i > axis(last))
        sizes.push_back(sizes_[i]);
      else
        sizes.back() *= sizes_[i];
    }
    return reshape(sizes);
  }
  Tensor permute(IntArrayRef axes) const {
    TORCH_CHECK(axes.size() == sizes_.size(), "permute: ", axes, " of ", sizes());
    Tensor result = *this;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      result.sizes_[i] = size(axes[i]);
      result.strides_[i] = stride(axes[i]);
    }
    return result;
  }
  Tensor transpose(std::int64_t a, std::int64_t b) const {
    Tensor result = *this;
    std::swap(result.sizes_[axis(a)], result.sizes_[axis(b)]);
    std::swap(result.strides_[axis(a)], result.strides_[axis(b)]);
    return result;
  }
  Tensor t() const { return dim() < 2 ? *this : transpose(0, 1); }
  Tensor narrow(std::int64_t at, std::int64_t start, std::int64_t length) const {
    TORCH_CHECK(start >= 0 && length >= 0 && start + length <= size(at), "narrow: ", start, " and ",
                length, " of ", size(at));
    Tensor result = *this;
    result.offset_ += start * stride(at);
    result.sizes_[axis(at)] = length;
    return result;
  }
  // From `start` up to `end`. Negative indices count from the end.
  Tensor slice(std::int64_t at, std::int64_t start = 0,
               std::int64_t end = std::numeric_limits<std::int64_t>::max()) const {
    const std::int64_t all = size(at);
    const auto within = [all](std::int64_t i) {
      return std::clamp<std::int64_t>(i < 0 ? i + all : i, 0, all);
    };
    return narrow(at, within(start), std::max<std::int64_t>(within(end) - within(start), 0));
  }
  Tensor select(std::int64_t at, std::int64_t index) const {
    const std::size_t chosen = axis(at);
    Tensor result = narrow(at, index < 0 ? index + size(at) : index, 1);
    result.sizes_.erase(result.sizes_.begin() + chosen);
    result.strides_.erase(result.strides_.begin() + chosen);
    return result;
  }
  Tensor operator[](std::int64_t index) const { return select(0, index); }
  Tensor unsqueeze(std::int64_t at) const {
    const std::int64_t where = at < 0 ? at + dim() + 1 : at;
    TORCH_CHECK(where >= 0 && where <= dim(), "unsqueeze(", at, ") of ", sizes());
    Tensor result = *this;
    result.sizes_.insert(result.sizes_.begin() + where, 1);
    result.strides_.insert(result.strides_.begin() + where, 1);
    return result;
  }

  Tensor mm(const Tensor& right) const; // arithmetic.h
  Tensor sum(std::int64_t at, bool keepdim = false) const;

  const Tensor& fill_(double value) const {
    set_values(std::vector<Value>(numel(), value));
    return *this;
  }
  const Tensor& zero_() const { return fill_(0); }
  const Tensor& copy_(const Tensor& from) const {
    TORCH_CHECK(from.sizes() == sizes(), "copy_ of ", from.sizes(), " to ", sizes());
    if (from.scalar_type() == scalar_type())
      set_bytes(from.bytes());
    else
      set_values(from.values());
    return *this;
  }
  template <class T>
  T item() const {
    TORCH_CHECK(numel() == 1, "item() of ", numel(), " elements");
    return static_cast<T>(values()[0]);
  }

 private:
  friend Tensor cat(std::initializer_list<Tensor> tensors, std::int64_t at);
  friend Tensor addmm(const Tensor& bias, const Tensor& left, const Tensor& right);
  using Value = long double; // represents every type exactly, also std::int64_t

  template <class Kind, class T, std::size_t dimensions>
  Kind accessor_of() const {
    TORCH_CHECK(dim() == dimensions, "an accessor of ", dimensions, " dimensions for ", sizes());
    return {data_ptr<T>(), sizes_.data(), strides_.data()};
  }
  std::size_t axis(std::int64_t at) const {
    TORCH_CHECK(at >= -dim() && at < dim(), "a tensor of ", dim(), " dimensions has no dimension ",
                at);
    return static_cast<std::size_t>(at < 0 ? at + dim() : at);
  }
  std::vector<std::int64_t> contiguous_strides() const {
    std::vector<std::int64_t> strides(sizes_.size(), 1);
    for (std::size_t i = sizes_.size(); i-- > 1;)
      strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes_[i], 1);
    return strides;
  }
  bool same_layout(const std::vector<std::int64_t>& strides) const {
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (sizes_[i] != 1 && strides_[i] != strides[i]) return false;
    return true;
  }
  Tensor copied(TensorOptions options) const {
    Tensor result(sizes_, options);
    result.copy_(*this);
    return result;
  }
  // The offset from data_ptr() of element i in row-major order, in elements.
  std::int64_t place(std::int64_t i) const {
    std::int64_t at = 0;
    for (std::size_t d = sizes_.size(); d-- > 0; i /= sizes_[d]) at += i % sizes_[d] * strides_[d];
    return at;
  }
  // Calls use(element, place, count) for runs of adjacent elements. Gaps between runs are not
  // touched.
  template <class Use>
  void for_each_run(Use use) const {
    const std::int64_t run = is_contiguous() ? numel() : strides_.back() == 1 ? sizes_.back() : 1;
    for (std::int64_t i = 0; i < numel(); i += run) use(i, place(i), run);
  }
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(nbytes());
    const std::size_t size = element_size();
    const auto* const from = static_cast<const std::byte*>(data_ptr());
    for_each_run([&](std::int64_t i, std::int64_t place, std::int64_t count) {
      C10_CUDA_CHECK(
          cudaMemcpy(&all[i * size], from + place * size, count * size, cudaMemcpyDefault));
    });
    return all;
  }
  void set_bytes(const std::vector<std::byte>& all) const {
    const std::size_t size = element_size();
    auto* const to = static_cast<std::byte*>(data_ptr());
    for_each_run([&](std::int64_t i, std::int64_t place, std::int64_t count) {
      C10_CUDA_CHECK(
          cudaMemcpy(to + place * size, &all[i * size], count * size, cudaMemcpyDefault));
    });
  }
  std::vector<Value> values() const {
    const std::vector<std::byte> all = bytes();
    std::vector<Value> result(numel());
    kg::torch::with_type(scalar_type(), [&](auto element) {
      for (std::size_t i = 0; i < result.size(); ++i) {
        std::memcpy(&element, &all[i * sizeof element], sizeof element);
        result[i] = static_cast<Value>(element);
      }
    });
    return result;
  }
  void set_values(const std::vector<Value>& values) const {
    std::vector<std::byte> all(nbytes());
    kg::torch::with_type(scalar_type(), [&](auto element) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        element = static_cast<decltype(element)>(values[i]);
        std::memcpy(&all[i * sizeof element], &element, sizeof element);
      }
    });
    set_bytes(all);
  }

  std::shared_ptr<kg::torch::Storage> storage_;
  std::vector<std::int64_t> sizes_, strides_;
  std::int64_t offset_ = 0;
  TensorOptions options_;
};

} // namespace at
