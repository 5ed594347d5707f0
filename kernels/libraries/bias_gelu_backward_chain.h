// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of gelu(x + bias) through the wrappers of three operations, each by a given library.
#pragma once

#include "libraries/activation_backward.h"
#include "libraries/bias_gelu_backward.h"
#include "libraries/bias_gelu_chain.h"
#include "libraries/reduction.h"

namespace kg::vendor {

struct BiasGeluLibraries {
  std::string_view sum, gelu, columns;
};

inline ReductionProblem column_sums(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  return {.op = reduction::Op::sum, .dtype = dtype, .outer = 1, .axis = rows, .inner = cols};
}

inline bool chain_supported(const BiasGeluLibraries& by, bias_gelu::Form form, Dtype dtype) {
  constexpr std::int64_t kProbe = 64;
  const BroadcastShapes shapes{{1, 1, 1, kProbe, kProbe}, {1, 1, 1, 1, kProbe}};
  return contains(names(broadcast_table, elementwise::Op::add, dtype, shapes), by.sum) &&
         contains(names(activation_backward_table, activation_of(form), dtype), by.gelu) &&
         contains(names(reduction_table, column_sums(dtype, kProbe, kProbe)), by.columns);
}

// `sums`: workspace for as many elements as x.
inline void chain(const BiasGeluLibraries& by, bias_gelu::Form form, Dtype dtype,
                  const BiasGeluTensors& of, void* sums, std::int64_t rows, std::int64_t cols,
                  Stream& stream) {
  const BroadcastShapes shapes{{1, 1, 1, rows, cols}, {1, 1, 1, 1, cols}};
  broadcast(by.sum, elementwise::Op::add, dtype, shapes, of.x, of.bias, sums, stream);
  // The sums also stand in for y: no library computes gelu's derivative from its result.
  activation_backward(by.gelu, activation_of(form), dtype, sums, sums, of.dy, of.dx, rows * cols,
                      stream);
  reduction(by.columns, column_sums(dtype, rows, cols), of.dx, of.dbias, stream);
}

} // namespace kg::vendor
