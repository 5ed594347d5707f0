// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The current stream, which is always the null stream, and the device guards. There is only one
// device.
#pragma once

#include "cuda/source/torch/tensor.h"

#include <optional>

namespace c10::cuda {

class CUDAStream {
 public:
  operator cudaStream_t() const { return nullptr; }
  cudaStream_t stream() const { return nullptr; }
  DeviceIndex device_index() const { return 0; }
  void synchronize() const { C10_CUDA_CHECK(cudaStreamSynchronize(nullptr)); }
};
inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return {}; }
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return {}; }
inline DeviceIndex current_device() { return 0; }

struct CUDAGuard {
  template <class Device>
  explicit CUDAGuard(const Device&) {}
};
struct OptionalCUDAGuard {
  template <class... Device>
  explicit OptionalCUDAGuard(const Device&...) {}
};

} // namespace c10::cuda

namespace at {

using DeviceGuard = c10::cuda::CUDAGuard;
inline std::optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor.device()) : std::nullopt;
}

namespace cuda {
using namespace c10::cuda;

inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties = [] {
    cudaDeviceProp all;
    C10_CUDA_CHECK(cudaGetDeviceProperties(&all, 0));
    return all;
  }();
  return &properties;
}

} // namespace cuda
} // namespace at
