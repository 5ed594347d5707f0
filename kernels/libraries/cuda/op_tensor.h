// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cudnnOpTensor on packed tensors. It repeats the second tensor along axes of extent 1.
#pragma once

#include "libraries/broadcast.h"
#include "libraries/cuda/cudnn.h"

#include <array>
#include <cstdint>

namespace kg::vendor::cudnn {

using OpTensor =
    Owned<cudnnOpTensorDescriptor_t, cudnnCreateOpTensorDescriptor, cudnnDestroyOpTensorDescriptor>;

inline void set_packed(const TensorDescriptor& descriptor, cudnnDataType_t type,
                       const std::array<std::int64_t, kBroadcastRank>& extents) {
  int size[kBroadcastRank];
  int stride[kBroadcastRank];
  std::int64_t step = 1;
  for (int d = kBroadcastRank - 1; d >= 0; --d) {
    size[d] = static_cast<int>(extents[d]);
    stride[d] = static_cast<int>(step);
    step *= extents[d];
  }
  KG_CHECK(cudnnSetTensorNdDescriptor(descriptor.get(), type, kBroadcastRank, size, stride));
}

struct Scales {
  float a = 1;
  float b = 1;
};

// out = (scales.a a) op (scales.b b), computed in f32. a and out have the same shape, with fewer
// than 2^31 elements. out may be a.
inline void op_tensor(cudnnOpTensorOp_t op, Dtype dtype, const BroadcastShapes& shapes,
                      const Scales& scales, const void* a, const void* b, void* out,
                      Stream& stream) {
  const OpTensor operation;
  KG_CHECK(cudnnSetOpTensorDescriptor(operation.get(), op, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN));
  const TensorDescriptor full;
  const TensorDescriptor repeated;
  set_packed(full, type_of(dtype).value(), shapes.a);
  set_packed(repeated, type_of(dtype).value(), shapes.b);
  KG_CHECK(cudnnOpTensor(handle_on(stream), operation.get(), &scales.a, full.get(), a, &scales.b,
                         repeated.get(), b, &kZero, full.get(), out));
}

} // namespace kg::vendor::cudnn
