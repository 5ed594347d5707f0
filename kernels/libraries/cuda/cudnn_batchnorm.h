// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation as described to cuDNN, for both directions.
// CUDNN_BATCHNORM_SPATIAL_PERSISTENT is made for nhwc; for other layouts cuDNN uses the other mode.
#pragma once

#include "libraries/cuda/cudnn.h"
#include "ops/batchnorm/problem.h"

#include <limits>

namespace kg::vendor::cudnn {

inline bool batchnorm_agrees(Dtype dtype, const batchnorm::Problem& p) {
  return type_of(dtype).has_value() && p.elements() <= std::numeric_limits<int>::max();
}
inline bool persistent_batchnorm_agrees(Dtype dtype, const batchnorm::Problem& p) {
  return p.layout == batchnorm::Layout::nhwc && batchnorm_agrees(dtype, p);
}

// Descriptors of the tensor and of the arrays with one element per channel.
class BatchNormDescription {
 public:
  BatchNormDescription(Dtype dtype, const batchnorm::Problem& p, cudnnBatchNormMode_t mode)
      : tensor_(type_of(dtype).value(), {p.batch, p.channels, 1, p.spatial}, format_of(p.layout)) {
    KG_CHECK(cudnnDeriveBNTensorDescriptor(per_channel_.get(), tensor_.get(), mode));
  }
  cudnnTensorDescriptor_t tensor() const { return tensor_.get(); }
  cudnnTensorDescriptor_t per_channel() const { return per_channel_.get(); }

 private:
  Tensor tensor_;
  TensorDescriptor per_channel_;
};

} // namespace kg::vendor::cudnn
