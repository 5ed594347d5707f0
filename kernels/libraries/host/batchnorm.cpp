// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/batchnorm.h"

#include "libraries/host/onednn_batchnorm.h"

#include <cmath>

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

dnnl::primitive training(const memory::desc& each, float epsilon) {
  return dnnl::batch_normalization_forward(
      batchnorm_forward(each, epsilon, dnnl::prop_kind::forward_training, affine()));
}

dnnl::primitive inference(const memory::desc& each, float epsilon) {
  return dnnl::batch_normalization_forward(
      batchnorm_forward(each, epsilon, dnnl::prop_kind::forward_inference,
                        affine() | BatchNormFlags::use_global_stats));
}

bool batchnorm_supported(Dtype dtype, const batchnorm::Problem& p) {
  return offers(type_of(dtype), [&](memory::data_type type) {
    training(batchnorm_tensor(type, p), 1);
    inference(batchnorm_tensor(type, p), 1);
  });
}

// `mean` and `spread` are outputs of training and inputs of inference.
void run(const dnnl::primitive& primitive, const memory::desc& each, const BatchnormProblem& p) {
  const memory::desc per_channel = vector(memory::data_type::f32, p.shape.channels);
  execute(primitive, {{DNNL_ARG_SRC, wrap(each, p.x)},
                      {DNNL_ARG_SCALE, wrap(per_channel, p.gamma)},
                      {DNNL_ARG_SHIFT, wrap(per_channel, p.beta)},
                      {DNNL_ARG_MEAN, wrap(per_channel, p.mean)},
                      {DNNL_ARG_VARIANCE, wrap(per_channel, p.spread)},
                      {DNNL_ARG_DST, wrap(each, p.y)}});
}

void batchnorm_training(Dtype dtype, const BatchnormProblem& p, Stream&) {
  translate("batch normalization in training", [&] {
    const memory::desc each = batchnorm_tensor(type_of(dtype).value(), p.shape);
    run(training(each, p.epsilon), each, p);
    for (std::int64_t c = 0; c < p.shape.channels; ++c) // oneDNN returns the variance
      p.spread[c] = 1 / std::sqrt(p.spread[c] + p.epsilon);
  });
}

void batchnorm_inference(Dtype dtype, const BatchnormProblem& p, Stream&) {
  translate("batch normalization in inference", [&] {
    const memory::desc each = batchnorm_tensor(type_of(dtype).value(), p.shape);
    run(inference(each, p.epsilon), each, p);
  });
}

} // namespace
} // namespace onednn

const Table<BatchnormVariant> batchnorm_table = {{"onednn", onednn::batchnorm_supported,
                                                  onednn::batchnorm_training,
                                                  onednn::batchnorm_inference}};

} // namespace kg::vendor
