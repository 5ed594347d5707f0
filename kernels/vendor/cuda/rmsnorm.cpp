// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/rmsnorm.h"

#include "vendor/cuda/cudnn_norm.h"

namespace kg::vendor {
namespace cudnn {
namespace {

void rmsnorm(Dtype dtype, const RmsnormProblem& p, Stream& stream) {
  norm_forward(normalization::Kind::rms, dtype,
               {p.x, p.gamma, nullptr, p.epsilon, p.y, nullptr, p.rstd, p.rows, p.cols}, stream);
}

} // namespace
} // namespace cudnn

std::span<const RmsnormVariant> rmsnorm_table() {
  static constexpr RmsnormVariant kTable[] = {{"cudnn", cudnn::norm_supported, cudnn::rmsnorm}};
  return kTable;
}

} // namespace kg::vendor
