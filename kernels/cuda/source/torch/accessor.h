// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors as kernels index them: x[i][j], using the tensor's strides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kg::torch {

// The sizes and strides are stored elsewhere.
template <class T, std::size_t dimensions, class Index>
class Accessor {
 public:
  Accessor(T* data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  Index size(int at) const { return sizes_[at]; }
  Index stride(int at) const { return strides_[at]; }
  T* data() const { return data_; }
  decltype(auto) operator[](Index i) const {
    if constexpr (dimensions == 1)
      return static_cast<T&>(data_[i * strides_[0]]);
    else
      return Accessor<T, dimensions - 1, Index>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }

 private:
  T* data_;
  const Index *sizes_, *strides_;
};

// Stores its own sizes and strides, so that it can be a kernel argument.
template <class T, std::size_t dimensions, class Index>
class PackedAccessor {
 public:
  PackedAccessor(T* data, const std::int64_t* sizes, const std::int64_t* strides) : data_(data) {
    for (std::size_t i = 0; i < dimensions; ++i) {
      sizes_[i] = static_cast<Index>(sizes[i]);
      strides_[i] = static_cast<Index>(strides[i]);
    }
  }
  Index size(int at) const { return sizes_[at]; }
  Index stride(int at) const { return strides_[at]; }
  T* data() const { return data_; }
  decltype(auto) operator[](Index i) const {
    return Accessor<T, dimensions, Index>(data_, sizes_, strides_)[i];
  }

 private:
  T* data_;
  Index sizes_[dimensions], strides_[dimensions];
};

} // namespace kg::torch

namespace at {

template <class T>
struct DefaultPtrTraits {};
template <class T>
struct RestrictPtrTraits {};
template <class T, std::size_t dimensions>
using TensorAccessor = kg::torch::Accessor<T, dimensions, std::int64_t>;
template <class T, std::size_t dimensions, template <class> class = DefaultPtrTraits>
using PackedTensorAccessor32 = kg::torch::PackedAccessor<T, dimensions, std::int32_t>;
template <class T, std::size_t dimensions, template <class> class = DefaultPtrTraits>
using PackedTensorAccessor64 = kg::torch::PackedAccessor<T, dimensions, std::int64_t>;
// The name before PyTorch 1.5. The index type may be std::size_t.
template <class T, std::size_t dimensions, template <class> class = DefaultPtrTraits,
          class Index = std::int64_t>
using PackedTensorAccessor = kg::torch::PackedAccessor<T, dimensions, Index>;

} // namespace at
