// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What every wrapper of a cuDNN function uses. Sizes: cuDNN's fixed functions count in int, so at
// most 2^31 - 1 elements.
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

// In the namespace of cudnnStatus_t, where KG_CHECK finds it from everywhere. The last error's text
// says which argument cuDNN did not like; the status alone does not.
kg::Status describe(cudnnStatus_t status);

namespace kg::vendor::cudnn {

// Throws NotSupported with cuDNN's own words where it cannot do what was asked for, Error where the
// call was wrong.
void check_support(cudnnStatus_t status, const char* what, Location where = Location::here());

// One handle per thread: cuDNN forbids sharing a handle between threads.
cudnnHandle_t handle_on(Stream& stream);

// nullopt: cuDNN has no such type, or the project does not ask for it.
std::optional<cudnnDataType_t> type_of(Dtype dtype);

using TensorDescriptor =
    Owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;

// The factors of a result, and of what is in its place before: it is not added to.
inline constexpr float kOne = 1;
inline constexpr float kZero = 0;

template <class Layout>
cudnnTensorFormat_t format_of(Layout layout) {
  return layout == Layout::nhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
}

// A packed tensor, of extents in the order N, C, H, W.
class Tensor : public TensorDescriptor {
 public:
  // Throws Error where cuDNN cannot count that far.
  Tensor(cudnnDataType_t type, const std::array<std::int64_t, 4>& extents,
         cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW);
  // Of `outer` x `inner`, as (N, C, 1, 1).
  Tensor(cudnnDataType_t type, std::int64_t outer, std::int64_t inner)
      : Tensor(type, {outer, inner, 1, 1}) {}
};

} // namespace kg::vendor::cudnn
