// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/cuda/cudnn.h"

#include "runtime/cuda/native.h"
#include "vendor/cuda/driver.h"

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
namespace {

class Handle {
 public:
  Handle() {
    require_driver("cuDNN");
    KG_CHECK(cudnnCreate(&handle_));
  }
  ~Handle() { cudnnDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  cudnnHandle_t get() const { return handle_; }

 private:
  cudnnHandle_t handle_ = nullptr;
};

} // namespace

cudnnHandle_t handle_on(Stream& stream) {
  thread_local const Handle handle;
  KG_CHECK(cudnnSetStream(handle.get(), cuda::native(stream)));
  return handle.get();
}

Tensor::Tensor(cudnnDataType_t type, std::int64_t outer, std::int64_t inner) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  require(outer <= kMost / inner, "kg::vendor: cuDNN takes at most " + std::to_string(kMost) +
                                      " elements, not " + std::to_string(outer) + " x " +
                                      std::to_string(inner));
  KG_CHECK(cudnnSetTensor4dDescriptor(descriptor_.get(), CUDNN_TENSOR_NCHW, type,
                                      static_cast<int>(outer), static_cast<int>(inner), 1, 1));
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
