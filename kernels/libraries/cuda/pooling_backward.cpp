// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/pooling_backward.h"

#include "libraries/cuda/cudnn_pooling.h"

namespace kg::vendor {
namespace cudnn {
namespace {

bool pooling_backward_supported(pooling::Kind kind, Dtype dtype, const pooling::Problem& problem) {
  return type_of(dtype).has_value() && pooling_agrees(kind, problem);
}

void pooling_backward(pooling::Kind kind, Dtype dtype, const pooling::Problem& problem,
                      const PoolingGradient& gradient, Stream& stream) {
  const PoolingDescription each(kind, dtype, problem);
  KG_CHECK(cudnnPoolingBackward(handle_on(stream), each.get(), &kOne, each.y.get(), gradient.y,
                                each.y.get(), gradient.dy, each.x.get(), gradient.x, &kZero,
                                each.x.get(), gradient.dx));
}

} // namespace
} // namespace cudnn

const Table<PoolingBackwardVariant> pooling_backward_table = {
    {"cudnn", cudnn::pooling_backward_supported, cudnn::pooling_backward}};

} // namespace kg::vendor
