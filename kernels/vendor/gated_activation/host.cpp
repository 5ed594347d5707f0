// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/gated_activation/gated_activation.h"

#include "vendor/host/onednn_reorder.h"

#include <algorithm>

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

// y times the second half of x.
dnnl::primitive make_product(const memory::desc& each, const memory::desc& half) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::binary({engine(), dnnl::algorithm::binary_mul, each, half, each});
#else
  return dnnl::binary({{dnnl::algorithm::binary_mul, each, half, each}, engine()});
#endif
}

memory::desc half_of(memory::data_type type, std::int64_t rows, std::int64_t cols) {
  return {{rows, cols}, type, memory::dims{2 * cols, 1}};
}

bool gated_activation_supported(Activation function, Dtype dtype) {
  const auto type = type_of(dtype);
  const std::vector<std::string_view> functions = activation_variants(function, dtype);
  return type && reorder_supported(dtype) &&
         std::find(functions.begin(), functions.end(), "onednn") != functions.end() &&
         creatable(
             [&] { make_product(matrix(*type, kProbe, kProbe), half_of(*type, kProbe, kProbe)); });
}

// Three calls: an activation wants one layout for both of its sides, so the gates are copied first.
void gated_activation(Activation function, Dtype dtype, const void* x, void* y, std::int64_t rows,
                      std::int64_t cols, Stream& stream) {
  reorder("gated_activation", dtype, {rows, cols}, x, {2 * cols, 1}, y, {cols, 1});
  activation("onednn", function, dtype, y, y, rows * cols, stream);
  translate("gated_activation", [&] {
    const memory::desc each = matrix(type_of(dtype).value(), rows, cols);
    const memory::desc half = half_of(type_of(dtype).value(), rows, cols);
    const void* const values =
        static_cast<const std::byte*>(x) + static_cast<std::size_t>(cols) * size_of(dtype);
    execute(make_product(each, half), {{DNNL_ARG_SRC_0, wrap(each, y)},
                                       {DNNL_ARG_SRC_1, wrap(half, values)},
                                       {DNNL_ARG_DST, wrap(each, y)}});
  });
}

} // namespace
} // namespace onednn

namespace {

constexpr GatedActivationVariant kTable[] = {
    {"onednn", onednn::gated_activation_supported, onednn::gated_activation},
};

} // namespace

std::span<const GatedActivationVariant> gated_activation_table() { return kTable; }

} // namespace kg::vendor
