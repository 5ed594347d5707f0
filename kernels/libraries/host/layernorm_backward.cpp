// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/layernorm_backward.h"

#include "libraries/host/onednn.h"

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

// A backward primitive needs the forward description as a hint.
dnnl::primitive make_layernorm_backward(const memory::desc& each, float epsilon) {
  const dnnl::engine& engine = onednn::engine();
  constexpr auto kTraining = dnnl::prop_kind::forward_training;
  constexpr auto kBackward = dnnl::prop_kind::backward;
  const auto affine = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::layer_normalization_forward::primitive_desc forward(engine, kTraining, each, each,
                                                                  epsilon, affine);
  return dnnl::layer_normalization_backward(
      {engine, kBackward, each, each, each, epsilon, affine, forward});
#else
  const dnnl::layer_normalization_forward::primitive_desc forward(
      {kTraining, each, epsilon, affine}, engine);
  return dnnl::layer_normalization_backward(
      {{kBackward, each, each, epsilon, affine}, engine, forward});
#endif
}

bool layernorm_backward_supported(Dtype dtype) {
  return offers(type_of(dtype), [&](memory::data_type type) {
    make_layernorm_backward(matrix(type, kProbe, kProbe), 1);
  });
}

Dtype layernorm_backward_sums(Dtype) { return Dtype::f32; }

void layernorm_backward(Dtype dtype, const LayernormBackwardProblem& p, Stream&) {
  translate("layer normalization's gradient", [&] {
    constexpr auto kF32 = memory::data_type::f32;
    const auto type = type_of(dtype).value();
    const memory::desc each = matrix(type, p.rows, p.cols);
    const memory scale = widened(type, p.cols, p.gamma);
    const Arguments arguments{
        {DNNL_ARG_SRC, wrap(each, p.x)},
        {DNNL_ARG_DIFF_DST, wrap(each, p.dy)},
        {DNNL_ARG_MEAN, wrap(vector(kF32, p.rows), p.mean)},
        {DNNL_ARG_VARIANCE, wrap(vector(kF32, p.rows), p.variance)},
        {DNNL_ARG_SCALE, scale},
        {DNNL_ARG_SHIFT, scale}, // required, although no gradient depends on it
        {DNNL_ARG_DIFF_SRC, wrap(each, p.dx)},
        {DNNL_ARG_DIFF_SCALE, wrap(vector(kF32, p.cols), p.dgamma)},
        {DNNL_ARG_DIFF_SHIFT, wrap(vector(kF32, p.cols), p.dbeta)}};
    execute(make_layernorm_backward(each, p.epsilon), arguments);
  });
}

} // namespace
} // namespace onednn

const Table<LayernormBackwardVariant> layernorm_backward_table = {
    {"onednn", onednn::layernorm_backward_supported, onednn::layernorm_backward_sums,
     onednn::layernorm_backward}};

} // namespace kg::vendor
