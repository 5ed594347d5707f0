// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/batchnorm_backward.h"

#include "libraries/cuda/cudnn_batchnorm.h"

namespace kg::vendor {
namespace cudnn {
namespace {

template <cudnnBatchNormMode_t mode>
void batchnorm_backward(Dtype dtype, const BatchnormBackwardProblem& p, Stream& stream) {
  const BatchNormDescription each(dtype, p.shape, mode);
  constexpr double kNoEpsilon = 0;
  KG_CHECK(cudnnBatchNormalizationBackward(handle_on(stream), mode, &kOne, &kZero, &kOne, &kZero,
                                           each.tensor(), p.x, each.tensor(), p.dy, each.tensor(),
                                           p.dx, each.per_channel(), p.gamma, p.dgamma, p.dbeta,
                                           kNoEpsilon, p.mean, p.rstd));
}

} // namespace
} // namespace cudnn

const Table<BatchnormBackwardVariant> batchnorm_backward_table = {
    {"cudnn", cudnn::batchnorm_agrees, cudnn::batchnorm_backward<CUDNN_BATCHNORM_SPATIAL>},
    {"cudnn_persistent", cudnn::persistent_batchnorm_agrees,
     cudnn::batchnorm_backward<CUDNN_BATCHNORM_SPATIAL_PERSISTENT>},
};

} // namespace kg::vendor
