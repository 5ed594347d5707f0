// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/batchnorm.h"

#include "libraries/cuda/cudnn_batchnorm.h"

namespace kg::vendor {
namespace cudnn {
namespace {

template <cudnnBatchNormMode_t mode>
void batchnorm_training(Dtype dtype, const BatchnormProblem& p, Stream& stream) {
  const BatchNormDescription each(dtype, p.shape, mode);
  constexpr double kNoMomentum = 0;
  KG_CHECK(cudnnBatchNormalizationForwardTraining(handle_on(stream), mode, &kOne, &kZero,
                                                  each.tensor(), p.x, each.tensor(), p.y,
                                                  each.per_channel(), p.gamma, p.beta, kNoMomentum,
                                                  nullptr, nullptr, p.epsilon, p.mean, p.spread));
}

template <cudnnBatchNormMode_t mode>
void batchnorm_inference(Dtype dtype, const BatchnormProblem& p, Stream& stream) {
  const BatchNormDescription each(dtype, p.shape, mode);
  KG_CHECK(cudnnBatchNormalizationForwardInference(
      handle_on(stream), mode, &kOne, &kZero, each.tensor(), p.x, each.tensor(), p.y,
      each.per_channel(), p.gamma, p.beta, p.mean, p.spread, p.epsilon));
}

} // namespace
} // namespace cudnn

const Table<BatchnormVariant> batchnorm_table = {
    {"cudnn", cudnn::batchnorm_agrees, cudnn::batchnorm_training<CUDNN_BATCHNORM_SPATIAL>,
     cudnn::batchnorm_inference<CUDNN_BATCHNORM_SPATIAL>},
    {"cudnn_persistent", cudnn::persistent_batchnorm_agrees,
     cudnn::batchnorm_training<CUDNN_BATCHNORM_SPATIAL_PERSISTENT>,
     cudnn::batchnorm_inference<CUDNN_BATCHNORM_SPATIAL_PERSISTENT>},
};

} // namespace kg::vendor
