// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by all cuDNN wrappers. cuDNN's fixed functions count in int, so a tensor has at most 2^31
// - 1 elements.
#pragma once

#include "libraries/cuda/owned.h"
#include "libraries/not_supported.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/stream.h"

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <optional>

// In the namespace of cudnnStatus_t, so that KG_CHECK finds it from everywhere. The last error's
// text names the argument that cuDNN rejected; the status alone does not.
kg::Status describe(cudnnStatus_t status);

namespace kg::vendor::cudnn {

// Throws NotSupported with cuDNN's own message if cuDNN does not support the request, Error if the
// call was wrong.
void check_support(cudnnStatus_t status, const char* what, Location where = Location::here());

// One handle per thread: cuDNN forbids sharing a handle between threads.
cudnnHandle_t handle_on(Stream& stream);

// nullopt: cuDNN has no such type, or the project does not use it.
std::optional<cudnnDataType_t> type_of(Dtype dtype);

using TensorDescriptor =
    Owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;

// cuDNN's scale factors for a result and for the output's previous value: the result replaces it.
inline constexpr float kOne = 1;
inline constexpr float kZero = 0;

template <class Layout>
cudnnTensorFormat_t format_of(Layout layout) {
  return layout == Layout::nhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
}

// A packed tensor; extents in the order N, C, H, W.
class Tensor : public TensorDescriptor {
 public:
  // Throws Error if the tensor is too large for cuDNN.
  Tensor(cudnnDataType_t type, const std::array<std::int64_t, 4>& extents,
         cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW);
  // outer x inner, as (N, C, 1, 1).
  Tensor(cudnnDataType_t type, std::int64_t outer, std::int64_t inner)
      : Tensor(type, {outer, inner, 1, 1}) {}
};

} // namespace kg::vendor::cudnn
