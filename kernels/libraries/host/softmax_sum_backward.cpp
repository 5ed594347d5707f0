// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/softmax_sum_backward_chain.h"

#include "runtime/error.h"

#include <cblas.h>

#include <limits>
#include <string>

namespace kg::vendor {
namespace {

void term_sums(const float* x, const float* dy, float* sums, std::int64_t terms, std::int64_t n,
               Stream&) {
  constexpr std::int64_t kMost = std::numeric_limits<blasint>::max();
  require(n <= kMost, "kg::vendor::softmax_sum_backward: n is " + std::to_string(n) +
                          "; this OpenBLAS takes at most " + std::to_string(kMost));
  const auto cols = static_cast<blasint>(n);
  cblas_sgemv(CblasRowMajor, CblasNoTrans, static_cast<blasint>(terms), cols, 1, x, cols, dy, 1, 0,
              sums, 1);
}

void onednn_openblas(const SoftmaxSumTensors& tensors, std::int64_t terms, std::int64_t n,
                     Stream& stream) {
  std::vector<float> weights(static_cast<std::size_t>(terms));
  std::vector<float> sums(weights.size());
  softmax_sum_gradients("onednn", "openblas", term_sums, tensors, {weights.data(), sums.data()},
                        terms, n, stream);
}

} // namespace

const Table<SoftmaxSumBackwardVariant> softmax_sum_backward_table = {
    {"onednn_openblas", always, onednn_openblas}};

} // namespace kg::vendor
