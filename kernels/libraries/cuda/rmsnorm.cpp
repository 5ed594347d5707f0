// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/rmsnorm.h"

#include "libraries/cuda/cudnn_norm.h"

namespace kg::vendor {
namespace cudnn {
namespace {

void rmsnorm(Dtype dtype, const RmsnormProblem& p, Stream& stream) {
  norm_forward(normalization::Kind::rms, dtype,
               {p.x, p.gamma, nullptr, p.epsilon, p.y, nullptr, p.rstd, p.rows, p.cols}, stream);
}

} // namespace
} // namespace cudnn

const Table<RmsnormVariant> rmsnorm_table = {{"cudnn", cudnn::norm_supported, cudnn::rmsnorm}};

} // namespace kg::vendor
