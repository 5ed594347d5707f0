// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/bias_gelu_backward_chain.h"
#include "libraries/cuda/scratch.h"

namespace kg::vendor {
namespace {

// cuDNN has no gelu and no column sums of bf16; cuBLAS only has column sums of f32.
constexpr BiasGeluLibraries kCudnnThrust{"cudnn", "thrust", "cudnn"};
constexpr BiasGeluLibraries kCudnnThrustCublas{"cudnn", "thrust", "cublas"};

template <const BiasGeluLibraries& by>
bool supported(bias_gelu::Form form, Dtype dtype) {
  return chain_supported(by, form, dtype);
}

// After gelu, cuDNN may use the same scratch memory for the column sums.
template <const BiasGeluLibraries& by>
void run(bias_gelu::Form form, Dtype dtype, const BiasGeluTensors& tensors, std::int64_t rows,
         std::int64_t cols, Stream& stream) {
  void* const sums = scratch(static_cast<std::size_t>(rows * cols) * size_of(dtype), stream);
  chain(by, form, dtype, tensors, sums, rows, cols, stream);
}

} // namespace

const Table<BiasGeluBackwardVariant> bias_gelu_backward_table = {
    {"cudnn_thrust", supported<kCudnnThrust>, run<kCudnnThrust>},
    {"cudnn_thrust_cublas", supported<kCudnnThrustCublas>, run<kCudnnThrustCublas>},
};

} // namespace kg::vendor
