// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation in cuDNN's words, for both directions. CUDNN_BATCHNORM_SPATIAL_PERSISTENT is
// made for nhwc; elsewhere cuDNN takes the other mode.
#pragma once

#include "batchnorm/problem.h"
#include "vendor/cuda/cudnn.h"

#include <limits>

namespace kg::vendor::cudnn {

inline bool batchnorm_agrees(Dtype dtype, const batchnorm::Problem& p) {
  return type_of(dtype).has_value() && p.elements() <= std::numeric_limits<int>::max();
}
inline bool persistent_batchnorm_agrees(Dtype dtype, const batchnorm::Problem& p) {
  return p.layout == batchnorm::Layout::nhwc && batchnorm_agrees(dtype, p);
}

// The tensor and what there is one of per channel.
class BatchNormDescription {
 public:
  BatchNormDescription(Dtype dtype, const batchnorm::Problem& p, cudnnBatchNormMode_t mode) {
    const bool last = p.layout == batchnorm::Layout::nhwc;
    KG_CHECK(cudnnSetTensor4dDescriptor(
        tensor_.get(), last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, type_of(dtype).value(),
        static_cast<int>(p.batch), static_cast<int>(p.channels), 1, static_cast<int>(p.spatial)));
    KG_CHECK(cudnnDeriveBNTensorDescriptor(per_channel_.get(), tensor_.get(), mode));
  }
  cudnnTensorDescriptor_t tensor() const { return tensor_.get(); }
  cudnnTensorDescriptor_t per_channel() const { return per_channel_.get(); }

 private:
  using Descriptor =
      Owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
  Descriptor tensor_;
  Descriptor per_channel_;
};

} // namespace kg::vendor::cudnn
