// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/tables.h"

#include "vendor/cuda/cub.h"
#include "vendor/cuda/cublas.h"
#include "vendor/cuda/cudnn.h"
#include "vendor/cuda/thrust.h"

namespace kg::vendor {
namespace {

bool any_axis(SumAxis) { return true; }

constexpr ElementwiseVariant kElementwise[] = {
    {"thrust", thrust_cuda::elementwise_supported, thrust_cuda::elementwise},
    {"cudnn", cudnn::elementwise_supported, cudnn::elementwise},
};
constexpr ReductionVariant kReduction[] = {
    {"cub", cub_device::reduction_supported, cub_device::reduction},
    {"thrust", thrust_cuda::reduction_supported, thrust_cuda::reduction},
    {"cublas", cublas::reduction_supported, cublas::reduction},
    {"cudnn", any_axis, cudnn::reduction},
};
constexpr SoftmaxVariant kSoftmax[] = {
    {"cudnn", cudnn::softmax_supported, cudnn::softmax},
};
constexpr TransposeVariant kTranspose[] = {
    {"cublas", cublas::transpose},
};
constexpr GemmVariant kGemm[] = {
    {"cublas", cublas::gemm},
};

} // namespace

std::vector<Library> libraries() {
  return {{"cublas", cublas::version()},
          {"cudnn", cudnn::version()},
          {"thrust", thrust_cuda::version()},
          {"cub", cub_device::version()}};
}

std::span<const ElementwiseVariant> elementwise_table() { return kElementwise; }
std::span<const ReductionVariant> reduction_table() { return kReduction; }
std::span<const SoftmaxVariant> softmax_table() { return kSoftmax; }
std::span<const TransposeVariant> transpose_table() { return kTranspose; }
std::span<const GemmVariant> gemm_table() { return kGemm; }

} // namespace kg::vendor
