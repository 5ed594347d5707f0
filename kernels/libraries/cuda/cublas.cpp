// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cublas.h"

#include "libraries/cuda/owned.h"
#include "runtime/buffer.h"
#include "runtime/cuda/native.h"

#include <algorithm>
#include <vector>

kg::Status describe(cublasStatus_t status) {
  return {status == CUBLAS_STATUS_SUCCESS, std::string(cublasGetStatusName(status)) + ": " +
                                               cublasGetStatusString(status) + " (" +
                                               std::to_string(static_cast<int>(status)) + ")"};
}

namespace kg::vendor::cublas {

cublasHandle_t handle_on(Stream& stream, cublasMath_t mode) {
  thread_local const Owned<cublasHandle_t, cublasCreate, cublasDestroy> handle("cuBLAS");
  KG_CHECK(cublasSetStream(handle.get(), cuda::native(stream)));
  KG_CHECK(cublasSetMathMode(handle.get(), mode));
  return handle.get();
}

std::optional<cudaDataType> type_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return CUDA_R_32F;
  case Dtype::f16: return CUDA_R_16F;
  case Dtype::bf16: return CUDA_R_16BF;
  default: return std::nullopt;
  }
}

cublasOperation_t transposition(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

const float* ones(std::int64_t n, Stream& stream) {
  thread_local std::vector<DeviceBuffer<float>> buffers;
  const auto wanted = static_cast<std::size_t>(n);
  if (buffers.empty() || buffers.back().size() < wanted) {
    const std::size_t doubled = buffers.empty() ? 0 : 2 * buffers.back().size();
    const std::vector<float> values(std::max(wanted, doubled), 1.0F);
    buffers.push_back(DeviceBuffer<float>::from_host(values, stream));
    stream.synchronize(); // another stream of this thread may read them next
  }
  return buffers.back().data();
}

} // namespace kg::vendor::cublas
