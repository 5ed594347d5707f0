// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/layernorm.h"

#include "libraries/cuda/cudnn_norm.h"

namespace kg::vendor {
namespace cudnn {
namespace {

bool layernorm_supported(Dtype dtype, Statistics) { return norm_supported(dtype); }

void layernorm(Dtype dtype, const LayernormProblem& p, Stream& stream) {
  norm_forward(normalization::Kind::layer, dtype,
               {p.x, p.gamma, p.beta, p.epsilon, p.y, p.mean, p.rstd, p.rows, p.cols}, stream);
}

} // namespace
} // namespace cudnn

const Table<LayernormVariant> layernorm_table = {
    {"cudnn", cudnn::layernorm_supported, cudnn::layernorm}};

} // namespace kg::vendor
