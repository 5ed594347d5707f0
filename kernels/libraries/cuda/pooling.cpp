// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/pooling.h"

#include "libraries/cuda/cudnn_pooling.h"

namespace kg::vendor {
namespace cudnn {
namespace {

bool pooling_supported(pooling::Kind kind, Dtype dtype, const pooling::Problem& problem) {
  return type_of(dtype).has_value() && pooling_agrees(kind, problem);
}

void pooling(pooling::Kind kind, Dtype dtype, const pooling::Problem& problem, const void* x,
             void* y, Stream& stream) {
  const PoolingDescription each(kind, dtype, problem);
  KG_CHECK(cudnnPoolingForward(handle_on(stream), each.get(), &kOne, each.x.get(), x, &kZero,
                               each.y.get(), y));
}

} // namespace
} // namespace cudnn

const Table<PoolingVariant> pooling_table = {{"cudnn", cudnn::pooling_supported, cudnn::pooling}};

} // namespace kg::vendor
