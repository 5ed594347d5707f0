// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gated_activation_backward.h"

#include "libraries/activation_backward.h"
#include "libraries/dispatch.h"
#include "libraries/host/gated.h"

#include <cstddef>

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

bool gated_backward_supported(activation::Function function, Dtype dtype) {
  return reorder_supported(dtype) && contains(names(activation_table, function, dtype), "onednn") &&
         contains(names(activation_backward_table, function, dtype), "onednn") &&
         offers(type_of(dtype), [&](memory::data_type type) {
           const memory::desc each = matrix(type, kProbe, kProbe);
           const memory::desc half = half_of(type, kProbe, kProbe);
           make_product(each, half, each);
           make_product(each, each, half);
         });
}

// Six calls: all tensors of an activation must share a layout, so the gates are copied first and
// their gradients last.
void backward(activation::Function function, Dtype dtype, const void* x, const void* dy, void* dx,
              std::int64_t rows, std::int64_t cols, Stream& stream) {
  const char* const what = "gated_activation_backward";
  const std::int64_t n = rows * cols;
  std::vector<std::byte> gates(static_cast<std::size_t>(n) * size_of(dtype));
  std::vector<std::byte> other(gates.size()); // activations, products, gradients
  reorder(what, dtype, {rows, cols}, x, {2 * cols, 1}, gates.data(), {cols, 1});
  vendor::activation("onednn", function, dtype, gates.data(), other.data(), n, stream);
  translate(what, [&] {
    const memory::desc each = matrix(type_of(dtype).value(), rows, cols);
    const memory::desc half = half_of(type_of(dtype).value(), rows, cols);
    multiply({each, dy}, {each, other.data()}, {half, values_of(dx, dtype, cols)});
    multiply({each, dy}, {half, values_of(x, dtype, cols)}, {each, other.data()});
  });
  // oneDNN does not compute derivatives from results, so the gates stand in for y.
  activation_backward("onednn", function, dtype, gates.data(), gates.data(), other.data(),
                      other.data(), n, stream);
  reorder(what, dtype, {rows, cols}, other.data(), {cols, 1}, dx, {2 * cols, 1});
}

} // namespace
} // namespace onednn

const Table<GatedActivationBackwardVariant> gated_activation_backward_table = {
    {"onednn", onednn::gated_backward_supported, onednn::backward}};

} // namespace kg::vendor
