// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tensor arithmetic that launchers do around their kernels. The host computes in extended
// precision and rounds once to the element type, so PyTorch's results differ by their rounding.
#pragma once

#include "cuda/source/torch/tensor.h"

#include <initializer_list>
#include <vector>

namespace at {

// Matrix multiplication: (m, k) times (k, n) gives (m, n).
inline Tensor Tensor::mm(const Tensor& right) const {
  TORCH_CHECK(dim() == 2 && right.dim() == 2 && size(1) == right.size(0), "mm: ", sizes(), " by ",
              right.sizes());
  TORCH_CHECK(scalar_type() == right.scalar_type(), "mm: ", scalar_type(), " by ",
              right.scalar_type());
  const std::int64_t rows = size(0), depth = size(1), columns = right.size(1);
  const std::vector<Value> a = values(), b = right.values();
  std::vector<Value> sums(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t j = 0; j < columns; ++j)
        sums[i * columns + j] += a[i * depth + k] * b[k * columns + j];
  Tensor result({rows, columns}, options_);
  result.set_values(sums);
  return result;
}

// Sums over one dimension, which then has size 1 or is removed.
inline Tensor Tensor::sum(std::int64_t at, bool keepdim) const {
  const std::size_t summed = axis(at);
  std::vector<std::int64_t> left = sizes_;
  left[summed] = 1;
  std::int64_t inner = 1;
  for (std::size_t i = summed + 1; i < sizes_.size(); ++i) inner *= sizes_[i];
  const std::vector<Value> all = values();
  Tensor result(left, options_);
  std::vector<Value> sums(static_cast<std::size_t>(result.numel()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto in = static_cast<std::int64_t>(i);
    sums[in / (inner * sizes_[summed]) * inner + in % inner] += all[i];
  }
  result.set_values(sums);
  return keepdim ? result : result.select(at, 0);
}

// Concatenates along one dimension. The other sizes must be equal.
inline Tensor cat(std::initializer_list<Tensor> tensors, std::int64_t at = 0) {
  TORCH_CHECK(tensors.size() != 0, "cat of no tensors");
  const Tensor& first = *tensors.begin();
  std::vector<std::int64_t> sizes = first.sizes().vec();
  const std::size_t axis = first.axis(at);
  sizes[axis] = 0;
  for (const Tensor& one : tensors) sizes[axis] += one.size(at);
  Tensor result(sizes, first.options());
  std::int64_t begin = 0;
  for (const Tensor& one : tensors) {
    result.narrow(at, begin, one.size(at)).copy_(one); // throws if the sizes differ
    begin += one.size(at);
  }
  return result;
}

inline Tensor mm(const Tensor& left, const Tensor& right) { return left.mm(right); }

// bias + left * right. A bias of one row or one dimension is added to each row.
inline Tensor addmm(const Tensor& bias, const Tensor& left, const Tensor& right) {
  const Tensor product = left.mm(right);
  const std::int64_t columns = product.size(1);
  const bool each_row = bias.numel() == columns && bias.size(-1) == columns;
  TORCH_CHECK(each_row || bias.sizes() == product.sizes(), "addmm: a bias of ", bias.sizes(),
              " for ", product.sizes());
  std::vector<Tensor::Value> sums = product.values();
  const std::vector<Tensor::Value> added = bias.values();
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += added[i % added.size()];
  product.set_values(sums);
  return product;
}

} // namespace at
