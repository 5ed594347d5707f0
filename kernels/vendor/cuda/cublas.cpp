// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/cuda/cublas.h"

#include "runtime/buffer.h"
#include "runtime/cuda/native.h"
#include "vendor/cuda/driver.h"

#include <algorithm>
#include <vector>

kg::Status describe(cublasStatus_t status) {
  return {status == CUBLAS_STATUS_SUCCESS, std::string(cublasGetStatusName(status)) + ": " +
                                               cublasGetStatusString(status) + " (" +
                                               std::to_string(static_cast<int>(status)) + ")"};
}

namespace kg::vendor::cublas {
namespace {

class Handle {
 public:
  Handle() {
    require_driver("cuBLAS");
    KG_CHECK(cublasCreate(&handle_));
  }
  ~Handle() { cublasDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

} // namespace

cublasHandle_t handle_on(Stream& stream, cublasMath_t mode) {
  thread_local const Handle handle;
  KG_CHECK(cublasSetStream(handle.get(), cuda::native(stream)));
  KG_CHECK(cublasSetMathMode(handle.get(), mode));
  return handle.get();
}

cublasOperation_t transposition(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

const float* ones(std::int64_t n, Stream& stream) {
  thread_local std::vector<DeviceBuffer<float>> buffers;
  const auto wanted = static_cast<std::size_t>(n);
  if (buffers.empty() || buffers.back().size() < wanted) {
    const std::size_t doubled = buffers.empty() ? 0 : 2 * buffers.back().size();
    const std::vector<float> values(std::max(wanted, doubled), 1.0F);
    buffers.push_back(DeviceBuffer<float>::from_host(values, stream));
    stream.synchronize(); // another stream of this thread may be the next to read them
  }
  return buffers.back().data();
}

} // namespace kg::vendor::cublas
