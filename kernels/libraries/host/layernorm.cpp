// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/layernorm.h"

#include "libraries/host/onednn.h"

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

dnnl::primitive make_layernorm(const memory::desc& each, float epsilon) {
  const dnnl::engine& engine = onednn::engine();
  constexpr auto kInference = dnnl::prop_kind::forward_inference;
  const auto affine = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::layer_normalization_forward({engine, kInference, each, each, epsilon, affine});
#else
  return dnnl::layer_normalization_forward({{kInference, each, epsilon, affine}, engine});
#endif
}

// oneDNN would store the variance, not rstd.
bool layernorm_supported(Dtype dtype, Statistics statistics) {
  return statistics == Statistics::none && offers(type_of(dtype), [&](memory::data_type type) {
           make_layernorm(matrix(type, kProbe, kProbe), 1);
         });
}

void layernorm(Dtype dtype, const LayernormProblem& p, Stream&) {
  translate("layer normalization", [&] {
    const auto type = type_of(dtype).value();
    const memory::desc each = matrix(type, p.rows, p.cols);
    execute(make_layernorm(each, p.epsilon), {{DNNL_ARG_SRC, wrap(each, p.x)},
                                              {DNNL_ARG_SCALE, widened(type, p.cols, p.gamma)},
                                              {DNNL_ARG_SHIFT, widened(type, p.cols, p.beta)},
                                              {DNNL_ARG_DST, wrap(each, p.y)}});
  });
}

} // namespace
} // namespace onednn

const Table<LayernormVariant> layernorm_table = {
    {"onednn", onednn::layernorm_supported, onednn::layernorm}};

} // namespace kg::vendor
