// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The wrappers compute the softmax, its gradient, and the product of the weights and dy. A call of
// the backend computes the dot product of each term and dy.
#pragma once

#include "libraries/gemm.h"
#include "libraries/softmax_backward.h"
#include "libraries/softmax_sum_backward.h"

namespace kg::vendor {

// Workspace that the chain keeps between calls: `terms` floats each.
struct SoftmaxSumWorkspace {
  float* weights;
  float* sums;
};

// sums[k] = sum over i of x[k, i] dy[i]
using TermSums = void (*)(const float* x, const float* dy, float* sums, std::int64_t terms,
                          std::int64_t n, Stream& stream);

inline void softmax_sum_gradients(std::string_view softmax_library, std::string_view gemm_library,
                                  TermSums term_sums, const SoftmaxSumTensors& of,
                                  const SoftmaxSumWorkspace& own, std::int64_t terms,
                                  std::int64_t n, Stream& stream) {
  softmax(softmax_library, softmax::Kind::softmax, Dtype::f32, of.alpha, own.weights, 1, terms,
          stream);
  gemm(gemm_library, packed_gemm(Dtype::f32, {terms, n, 1}, 1, {own.weights}, {of.dy}, of.dx),
       Math::pedantic, stream);
  term_sums(of.x, of.dy, own.sums, terms, n, stream);
  softmax_backward(softmax_library, softmax::Kind::softmax, Dtype::f32, own.weights, own.sums,
                   of.dalpha, 1, terms, stream);
}

} // namespace kg::vendor
