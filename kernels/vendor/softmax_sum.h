// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes: a softmax of alpha, and the product of the row of weights
// and the matrix whose rows are the tensors. In f32, as our wrapper of the product.
#pragma once

#include "runtime/stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

std::vector<std::string_view> softmax_sum_variants();
void softmax_sum(std::string_view variant, const float* x, const float* alpha, float* y,
                 std::int64_t terms, std::int64_t n, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct SoftmaxSumVariant {
  std::string_view name;
  void (*run)(const float* x, const float* alpha, float* y, std::int64_t terms, std::int64_t n,
              Stream& stream);
};
std::span<const SoftmaxSumVariant> softmax_sum_table();

} // namespace kg::vendor
