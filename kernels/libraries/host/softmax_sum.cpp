// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/softmax_sum_chain.h"

namespace kg::vendor {
namespace {

void onednn_openblas(const float* x, const float* alpha, float* y, std::int64_t terms,
                     std::int64_t n, Stream& stream) {
  std::vector<float> weights(static_cast<std::size_t>(terms));
  softmax_and_product("onednn", "openblas", x, alpha, weights.data(), y, terms, n, stream);
}

} // namespace

const Table<SoftmaxSumVariant> softmax_sum_table = {{"onednn_openblas", always, onednn_openblas}};

} // namespace kg::vendor
