// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for the gradients of y = gelu(x + bias): the sum once more,
// the gradient of the gelu, and the sums of its columns. The sum and dx pass through memory and are
// rounded to the element type.
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "vendor/bias_gelu.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

// Packed; dx apart from the inputs.
struct BiasGeluTensors {
  const void* x;
  const void* bias;
  const void* dy;
  void* dx;
  void* dbias;
};

std::vector<std::string_view> bias_gelu_backward_variants(bias_gelu::Form form, Dtype dtype);
void bias_gelu_backward(std::string_view variant, bias_gelu::Form form, Dtype dtype,
                        const BiasGeluTensors& tensors, std::int64_t rows, std::int64_t cols,
                        Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct BiasGeluBackwardVariant {
  std::string_view name;
  bool (*supports)(bias_gelu::Form form, Dtype dtype);
  void (*run)(bias_gelu::Form form, Dtype dtype, const BiasGeluTensors& tensors, std::int64_t rows,
              std::int64_t cols, Stream& stream);
};
std::span<const BiasGeluBackwardVariant> bias_gelu_backward_table();

} // namespace kg::vendor
