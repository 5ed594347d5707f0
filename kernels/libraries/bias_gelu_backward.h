// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of y = gelu(x + bias) as a user of the libraries would write them: the sum again, the
// gradient of gelu, and its column sums. The sum and dx pass through memory and are rounded to the
// element type.
#pragma once

#include "libraries/bias_gelu.h"
#include "libraries/dispatch.h"

namespace kg::vendor {

// All packed. dx must not overlap an input.
struct BiasGeluTensors {
  const void* x;
  const void* bias;
  const void* dy;
  void* dx;
  void* dbias;
};

using BiasGeluBackwardVariant = VariantOf<void(bias_gelu::Form, Dtype, const BiasGeluTensors&,
                                               std::int64_t, std::int64_t, Stream&),
                                          bias_gelu::Form, Dtype>;
extern const Table<BiasGeluBackwardVariant> bias_gelu_backward_table;

inline void bias_gelu_backward(std::string_view variant, bias_gelu::Form form, Dtype dtype,
                               const BiasGeluTensors& tensors, std::int64_t rows, std::int64_t cols,
                               Stream& stream) {
  const std::string what = join("bias_gelu_backward", {name(form), name(dtype)});
  const auto& entry = find(bias_gelu_backward_table, variant, what, form, dtype);
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"x", tensors.x},
                          {"bias", tensors.bias},
                          {"dy", tensors.dy},
                          {"dx", tensors.dx},
                          {"dbias", tensors.dbias}});
  entry.run(form, dtype, tensors, rows, cols, stream);
}

} // namespace kg::vendor
