// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/bias_gelu_chain.h"

namespace kg::vendor {
namespace {

// cuDNN's fixed functions can add tensors, but have no gelu. With Thrust, users write both.
bool cudnn_thrust_supported(bias_gelu::Form form, Dtype dtype) {
  return chain_supported("cudnn", "thrust", form, dtype);
}

void cudnn_thrust(bias_gelu::Form form, Dtype dtype, const void* x, const void* bias, void* y,
                  std::int64_t rows, std::int64_t cols, Stream& stream) {
  chain("cudnn", "thrust", form, dtype, x, bias, y, rows, cols, stream);
}

} // namespace

const Table<BiasGeluVariant> bias_gelu_table = {
    {"cudnn_thrust", cudnn_thrust_supported, cudnn_thrust}};

} // namespace kg::vendor
