// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/layernorm_backward.h"

#include "libraries/cuda/cudnn_norm.h"

namespace kg::vendor {
namespace cudnn {
namespace {

Dtype layernorm_backward_sums(Dtype dtype) { return dtype; }

void layernorm_backward(Dtype dtype, const LayernormBackwardProblem& p, Stream& stream) {
  norm_backward(normalization::Kind::layer, dtype,
                {p.dy, p.x, p.gamma, p.mean, p.rstd, p.dx, p.dgamma, p.dbeta, p.rows, p.cols},
                stream);
}

} // namespace
} // namespace cudnn

const Table<LayernormBackwardVariant> layernorm_backward_table = {
    {"cudnn", cudnn::norm_supported, cudnn::layernorm_backward_sums, cudnn::layernorm_backward}};

} // namespace kg::vendor
