// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/tables.h"

#include "vendor/host/onednn.h"
#include "vendor/host/openblas.h"
#include "vendor/host/thrust.h"

namespace kg::vendor {
namespace {

bool only_f32(Binary, Dtype dtype) { return dtype == Dtype::f32; }
bool any_axis(SumAxis) { return true; }

constexpr ElementwiseVariant kElementwise[] = {
    {"onednn", onednn::elementwise_supported, onednn::elementwise},
    {"thrust", only_f32, thrust_host::elementwise},
};
constexpr ReductionVariant kReduction[] = {
    {"onednn", onednn::reduction_supported, onednn::reduction},
    {"thrust", any_axis, thrust_host::reduction},
};
constexpr SoftmaxVariant kSoftmax[] = {
    {"onednn", onednn::softmax_supported, onednn::softmax},
};
constexpr TransposeVariant kTranspose[] = {
    {"onednn", onednn::transpose},
    {"thrust", thrust_host::transpose},
};
constexpr GemmVariant kGemm[] = {
    {"openblas", openblas::gemm},
};

} // namespace

std::vector<Library> libraries() {
  return {{"openblas", openblas::version()},
          {"onednn", onednn::version()},
          {"thrust", thrust_host::version()}};
}

std::span<const ElementwiseVariant> elementwise_table() { return kElementwise; }
std::span<const ReductionVariant> reduction_table() { return kReduction; }
std::span<const SoftmaxVariant> softmax_table() { return kSoftmax; }
std::span<const TransposeVariant> transpose_table() { return kTranspose; }
std::span<const GemmVariant> gemm_table() { return kGemm; }

} // namespace kg::vendor
