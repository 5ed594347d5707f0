// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/bias_gelu_backward_chain.h"

#include <cstddef>

namespace kg::vendor {
namespace {

constexpr BiasGeluLibraries kOnednn{"onednn", "onednn", "onednn"};

bool chain_of_onednn_supported(bias_gelu::Form form, Dtype dtype) {
  return chain_supported(kOnednn, form, dtype);
}

void chain_of_onednn(bias_gelu::Form form, Dtype dtype, const BiasGeluTensors& tensors,
                     std::int64_t rows, std::int64_t cols, Stream& stream) {
  std::vector<std::byte> sums(static_cast<std::size_t>(rows * cols) * size_of(dtype));
  chain(kOnednn, form, dtype, tensors, sums.data(), rows, cols, stream);
}

} // namespace

const Table<BiasGeluBackwardVariant> bias_gelu_backward_table = {
    {"onednn", chain_of_onednn_supported, chain_of_onednn}};

} // namespace kg::vendor
