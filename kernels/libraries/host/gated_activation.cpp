// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gated_activation.h"

#include "libraries/dispatch.h"
#include "libraries/host/gated.h"

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

bool gated_activation_supported(activation::Function function, Dtype dtype) {
  return reorder_supported(dtype) && contains(names(activation_table, function, dtype), "onednn") &&
         offers(type_of(dtype), [&](memory::data_type type) {
           const memory::desc each = matrix(type, kProbe, kProbe);
           make_product(each, half_of(type, kProbe, kProbe), each);
         });
}

// Three calls: an activation's input and output must share a layout, so the gates are copied first.
void gated_activation(activation::Function function, Dtype dtype, const void* x, void* y,
                      std::int64_t rows, std::int64_t cols, Stream& stream) {
  reorder("gated_activation", dtype, {rows, cols}, x, {2 * cols, 1}, y, {cols, 1});
  vendor::activation("onednn", function, dtype, y, y, rows * cols, stream);
  translate("gated_activation", [&] {
    const memory::desc each = matrix(type_of(dtype).value(), rows, cols);
    const memory::desc half = half_of(type_of(dtype).value(), rows, cols);
    multiply({each, y}, {half, values_of(x, dtype, cols)}, {each, y});
  });
}

} // namespace
} // namespace onednn

const Table<GatedActivationVariant> gated_activation_table = {
    {"onednn", onednn::gated_activation_supported, onednn::gated_activation}};

} // namespace kg::vendor
