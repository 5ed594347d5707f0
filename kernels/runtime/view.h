// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Strided views of tensors, cheap to pass to kernels by value.
#pragma once

#include <array>
#include <cstdint>

namespace kg {

// A tensor of `Rank` dimensions in device memory. Element (i0, i1, ...) is at data[i0*stride[0] +
// i1*stride[1] + ...]. Strides count elements; they may exceed the packed strides (padding) or be 0
// (broadcast, read-only views).
template <class T, int Rank>
struct View {
  T* data = nullptr;
  std::array<std::int64_t, Rank> shape{};
  std::array<std::int64_t, Rank> stride{};

  constexpr std::int64_t size() const {
    std::int64_t product = 1;
    for (std::int64_t extent : shape) product *= extent;
    return product;
  }
};

// Row-major strides without gaps: the last dimension is contiguous.
template <int Rank>
constexpr std::array<std::int64_t, Rank>
packed_strides(const std::array<std::int64_t, Rank>& shape) {
  std::array<std::int64_t, Rank> stride{};
  std::int64_t step = 1;
  for (int d = Rank - 1; d >= 0; --d) {
    stride[d] = step;
    step *= shape[d];
  }
  return stride;
}

template <class T>
using MatrixView = View<T, 2>;

// A row-major matrix whose rows start `leading` elements apart.
template <class T>
constexpr MatrixView<T> matrix(T* data, std::int64_t rows, std::int64_t cols,
                               std::int64_t leading) {
  return {data, {rows, cols}, {leading, 1}};
}
template <class T>
constexpr MatrixView<T> matrix(T* data, std::int64_t rows, std::int64_t cols) {
  return matrix(data, rows, cols, cols);
}

} // namespace kg
