// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of y = sum over k of w[k] x[k], w = softmax(alpha), as a user of the libraries would
// write them: the softmax again, dx as the product of the column of weights and the row dy, the dot
// product of dy and each term, and from these the gradient of the softmax. f32 only.
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

// All packed. dx must not overlap an input.
struct SoftmaxSumTensors {
  const float* x;
  const float* alpha;
  const float* dy;
  float* dx;
  float* dalpha;
};

using SoftmaxSumBackwardVariant =
    VariantOf<void(const SoftmaxSumTensors&, std::int64_t, std::int64_t, Stream&)>;
extern const Table<SoftmaxSumBackwardVariant> softmax_sum_backward_table;

inline void softmax_sum_backward(std::string_view variant, const SoftmaxSumTensors& tensors,
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
