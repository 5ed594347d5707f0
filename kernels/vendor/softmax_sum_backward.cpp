// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/softmax_sum_backward.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void softmax_sum_backward(std::string_view variant, const SoftmaxSumTensors& tensors,
                          std::int64_t terms, std::int64_t n, Stream& stream) {
  const std::string what = join("softmax_sum_backward", {name(Dtype::f32)});
  const auto& entry = find(softmax_sum_backward_table, variant, what);
  require_extents(what, {{"terms", terms}, {"n", n}});
  if (terms == 0 || n == 0) return;
  require_pointers(what, {{"x", tensors.x},
                          {"alpha", tensors.alpha},
                          {"dy", tensors.dy},
                          {"dx", tensors.dx},
                          {"dalpha", tensors.dalpha}});
  entry.run(tensors, terms, n, stream);
}

} // namespace kg::vendor
