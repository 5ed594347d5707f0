// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/scratch.h"
#include "libraries/softmax_sum_chain.h"

namespace kg::vendor {
namespace {

void cudnn_cublas(const float* x, const float* alpha, float* y, std::int64_t terms, std::int64_t n,
                  Stream& stream) {
  void* const weights = scratch(static_cast<std::size_t>(terms) * sizeof(float), stream);
  softmax_and_product("cudnn", "cublas", x, alpha, static_cast<float*>(weights), y, terms, n,
                      stream);
}

} // namespace

const Table<SoftmaxSumVariant> softmax_sum_table = {{"cudnn_cublas", always, cudnn_cublas}};

} // namespace kg::vendor
