// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/batchnorm_backward.h"

#include "libraries/host/onednn_batchnorm.h"

#include <vector>

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

// A backward primitive needs the forward description as a hint.
dnnl::primitive make_batchnorm_backward(const memory::desc& each) {
  constexpr float kNoEpsilon = 0;
  constexpr auto kBackward = dnnl::prop_kind::backward;
  const auto forward =
      batchnorm_forward(each, kNoEpsilon, dnnl::prop_kind::forward_training, affine());
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::batch_normalization_backward(
      {engine(), kBackward, each, each, each, kNoEpsilon, affine(), forward});
#else
  return dnnl::batch_normalization_backward(
      {{kBackward, each, each, kNoEpsilon, affine()}, engine(), forward});
#endif
}

bool batchnorm_backward_supported(Dtype dtype, const batchnorm::Problem& p) {
  return offers(type_of(dtype), [&](memory::data_type type) {
    make_batchnorm_backward(batchnorm_tensor(type, p));
  });
}

void batchnorm_backward(Dtype dtype, const BatchnormBackwardProblem& p, Stream&) {
  translate("batch normalization's gradient", [&] {
    const memory::desc each = batchnorm_tensor(type_of(dtype).value(), p.shape);
    const memory::desc per_channel = vector(memory::data_type::f32, p.shape.channels);
    std::vector<float> variance;
    for (std::int64_t c = 0; c < p.shape.channels; ++c)
      variance.push_back(1 / (p.rstd[c] * p.rstd[c]));
    Arguments arguments{{DNNL_ARG_SRC, wrap(each, p.x)},
                        {DNNL_ARG_DIFF_DST, wrap(each, p.dy)},
                        {DNNL_ARG_MEAN, wrap(per_channel, p.mean)},
                        {DNNL_ARG_VARIANCE, wrap(per_channel, variance.data())},
                        {DNNL_ARG_SCALE, wrap(per_channel, p.gamma)},
                        {DNNL_ARG_DIFF_SRC, wrap(each, p.dx)},
                        {DNNL_ARG_DIFF_SCALE, wrap(per_channel, p.dgamma)},
                        {DNNL_ARG_DIFF_SHIFT, wrap(per_channel, p.dbeta)}};
#if DNNL_VERSION_MAJOR < 3
    // Required, although no gradient depends on it.
    arguments.emplace(DNNL_ARG_SHIFT, wrap(per_channel, p.gamma));
#endif
    execute(make_batchnorm_backward(each), arguments);
  });
}

} // namespace
} // namespace onednn

const Table<BatchnormBackwardVariant> batchnorm_backward_table = {
    {"onednn", onednn::batchnorm_backward_supported, onednn::batchnorm_backward}};

} // namespace kg::vendor
