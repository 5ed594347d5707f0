// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cublas.h"
#include "libraries/cuda/scratch.h"
#include "libraries/softmax_sum_backward_chain.h"

namespace kg::vendor {
namespace {

// The terms are the columns of x's column view.
void term_sums(const float* x, const float* dy, float* sums, std::int64_t terms, std::int64_t n,
               Stream& stream) {
  const float one = 1;
  const float zero = 0;
  KG_CHECK(cublasSgemv_64(cublas::handle_on(stream, CUBLAS_PEDANTIC_MATH), CUBLAS_OP_T, n, terms,
                          &one, x, n, dy, 1, &zero, sums, 1));
}

void cudnn_cublas(const SoftmaxSumTensors& tensors, std::int64_t terms, std::int64_t n,
                  Stream& stream) {
  const std::size_t each = static_cast<std::size_t>(terms) * sizeof(float);
  auto* const weights = static_cast<float*>(scratch(2 * each, stream));
  softmax_sum_gradients("cudnn", "cublas", term_sums, tensors, {weights, weights + terms}, terms, n,
                        stream);
}

} // namespace

const Table<SoftmaxSumBackwardVariant> softmax_sum_backward_table = {
    {"cudnn_cublas", always, cudnn_cublas}};

} // namespace kg::vendor
