// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/bias_gelu_chain.h"

#include "libraries/host/onednn_eltwise.h"

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

// The sum of a matrix and a row, with gelu as a post-op.
dnnl::primitive make_bias_gelu(bias_gelu::Form form, const memory::desc& each,
                               const memory::desc& row) {
  constexpr float kUnused = 0; // gelu has no parameters
  const dnnl::algorithm gelu = algorithm_of(activation_of(form));
  dnnl::post_ops after;
  append_eltwise(after, gelu, kUnused);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  return make_with<dnnl::binary>(attributes, dnnl::algorithm::binary_add, each, row, each);
}

bool bias_gelu_supported(bias_gelu::Form form, Dtype dtype) {
  return offers(type_of(dtype), [&](memory::data_type type) {
    make_bias_gelu(form, matrix(type, kProbe, kProbe), matrix(type, 1, kProbe));
  });
}

void bias_gelu(bias_gelu::Form form, Dtype dtype, const void* x, const void* bias, void* y,
               std::int64_t rows, std::int64_t cols, Stream&) {
  translate("bias_gelu", [&] {
    const memory::desc each = matrix(type_of(dtype).value(), rows, cols);
    const memory::desc row = matrix(type_of(dtype).value(), 1, cols);
    execute(make_bias_gelu(form, each, row), {{DNNL_ARG_SRC_0, wrap(each, x)},
                                              {DNNL_ARG_SRC_1, wrap(row, bias)},
                                              {DNNL_ARG_DST, wrap(each, y)}});
  });
}

bool chain_of_two_supported(bias_gelu::Form form, Dtype dtype) {
  return chain_supported("onednn", "onednn", form, dtype);
}

void chain_of_two(bias_gelu::Form form, Dtype dtype, const void* x, const void* bias, void* y,
                  std::int64_t rows, std::int64_t cols, Stream& stream) {
  chain("onednn", "onednn", form, dtype, x, bias, y, rows, cols, stream);
}

} // namespace
} // namespace onednn

const Table<BiasGeluVariant> bias_gelu_table = {
    {"onednn", onednn::bias_gelu_supported, onednn::bias_gelu},
    {"onednn_chain", onednn::chain_of_two_supported, onednn::chain_of_two},
};

} // namespace kg::vendor
