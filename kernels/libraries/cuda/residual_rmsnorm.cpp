// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/residual_rmsnorm.h"

#include "libraries/cuda/cudnn_norm.h"
#include "libraries/cuda/op_tensor.h"

namespace kg::vendor {
namespace cudnn {
namespace {

// Two calls: the sum is rounded to the type of x before it is normalised.
void residual_rmsnorm(Dtype dtype, const ResidualRmsnormProblem& p, Stream& stream) {
  const std::array<std::int64_t, kBroadcastRank> extents = {1, 1, 1, p.rows, p.cols};
  op_tensor(CUDNN_OP_TENSOR_ADD, dtype, {extents, extents}, {}, p.x, p.residual, p.z, stream);
  norm_forward(normalization::Kind::rms, dtype,
               {p.z, p.gamma, nullptr, p.epsilon, p.y, nullptr, nullptr, p.rows, p.cols}, stream);
}

} // namespace
} // namespace cudnn

const Table<ResidualRmsnormVariant> residual_rmsnorm_table = {
    {"cudnn", cudnn::norm_supported, cudnn::residual_rmsnorm}};

} // namespace kg::vendor
