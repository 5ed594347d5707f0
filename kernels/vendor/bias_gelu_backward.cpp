// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/bias_gelu_backward.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void bias_gelu_backward(std::string_view variant, bias_gelu::Form form, Dtype dtype,
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
