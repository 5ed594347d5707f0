// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// oneDNN on rows that hold their gates, then as many values: one half as a matrix, and products.
#pragma once

#include "libraries/host/onednn_binary.h"
#include "libraries/host/onednn_reorder.h"

#include <cstddef>

namespace kg::vendor::onednn {

// rows x cols, with a row stride of 2 cols elements.
inline dnnl::memory::desc half_of(dnnl::memory::data_type type, std::int64_t rows,
                                  std::int64_t cols) {
  return {{rows, cols}, type, dnnl::memory::dims{2 * cols, 1}};
}

// The values of the first row, which follow its gates.
inline const void* values_of(const void* x, Dtype dtype, std::int64_t cols) {
  return static_cast<const std::byte*>(x) + static_cast<std::size_t>(cols) * size_of(dtype);
}

inline dnnl::primitive make_product(const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                                    const dnnl::memory::desc& out) {
  return make<dnnl::binary>(dnnl::algorithm::binary_mul, a, b, out);
}

// out = a b, element by element.
inline void multiply(const Tensor& a, const Tensor& b, const Tensor& out) {
  combine(elementwise::Op::mul, a, b, out);
}

} // namespace kg::vendor::onednn
