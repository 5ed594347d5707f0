// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cudnn.h"

#include "runtime/cuda/native.h"

#include <algorithm>
#include <limits>
#include <string>

kg::Status describe(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return {true, ""};
  std::string text =
      cudnnGetErrorString(status) + (" (" + std::to_string(static_cast<int>(status)) + ")");
#if CUDNN_MAJOR >= 9
  char detail[512] = "";
  cudnnGetLastErrorString(detail, sizeof detail);
  if (detail[0] != '\0') text += std::string(": ") + detail;
#endif
  return {false, text};
}

namespace kg::vendor::cudnn {

void check_support(cudnnStatus_t status, const char* what, Location where) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const std::string text = std::string("cuDNN, ") + what + ": " + describe(status).text;
  if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) throw NotSupported(text);
  fail(text, where);
}

cudnnHandle_t handle_on(Stream& stream) {
  thread_local const Owned<cudnnHandle_t, cudnnCreate, cudnnDestroy> handle("cuDNN");
  KG_CHECK(cudnnSetStream(handle.get(), cuda::native(stream)));
  return handle.get();
}

Tensor::Tensor(cudnnDataType_t type, const std::array<std::int64_t, 4>& extents,
               cudnnTensorFormat_t format) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const auto& [n, c, h, w] = extents;
  std::int64_t left = kMost;
  for (const std::int64_t extent : extents) left /= std::max<std::int64_t>(extent, 1);
  require(left > 0, "kg::vendor: cuDNN takes at most " + std::to_string(kMost) + " elements, not " +
                        std::to_string(n) + " x " + std::to_string(c) + " x " + std::to_string(h) +
                        " x " + std::to_string(w));
  KG_CHECK(cudnnSetTensor4dDescriptor(get(), format, type, static_cast<int>(n), static_cast<int>(c),
                                      static_cast<int>(h), static_cast<int>(w)));
}

std::optional<cudnnDataType_t> type_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return CUDNN_DATA_FLOAT;
  case Dtype::f16: return CUDNN_DATA_HALF;
  case Dtype::bf16: return CUDNN_DATA_BFLOAT16;
  default: return std::nullopt;
  }
}

} // namespace kg::vendor::cudnn
