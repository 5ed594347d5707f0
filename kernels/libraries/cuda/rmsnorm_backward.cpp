// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/rmsnorm_backward.h"

#include "libraries/cuda/cudnn_norm.h"

namespace kg::vendor {
namespace cudnn {
namespace {

void rmsnorm_backward(Dtype dtype, const RmsnormBackwardProblem& p, Stream& stream) {
  norm_backward(normalization::Kind::rms, dtype,
                {p.dy, p.x, p.gamma, nullptr, p.rstd, p.dx, p.dgamma, nullptr, p.rows, p.cols},
                stream);
}

} // namespace
} // namespace cudnn

const Table<RmsnormBackwardVariant> rmsnorm_backward_table = {
    {"cudnn", cudnn::norm_supported, cudnn::rmsnorm_backward}};

} // namespace kg::vendor
