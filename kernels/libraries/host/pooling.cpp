// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/pooling.h"

#include "libraries/host/onednn_pooling.h"

namespace kg::vendor {
namespace onednn {
namespace {

PoolingForward::primitive_desc inference(const PoolingDescription& description) {
  return pooling_forward(description, dnnl::prop_kind::forward_inference);
}

bool pooling_supported(pooling::Kind kind, Dtype dtype, const pooling::Problem& problem) {
  return pooling_agrees(kind, problem) && offers(type_of(dtype), [&](dnnl::memory::data_type type) {
           inference(describe_pooling(kind, type, problem));
         });
}

void pooling(pooling::Kind kind, Dtype dtype, const pooling::Problem& problem, const void* x,
             void* y, Stream&) {
  translate("pooling", [&] {
    const PoolingDescription d = describe_pooling(kind, type_of(dtype).value(), problem);
    execute(PoolingForward(inference(d)),
            {{DNNL_ARG_SRC, wrap(d.x, x)}, {DNNL_ARG_DST, wrap(d.y, y)}});
  });
}

} // namespace
} // namespace onednn

const Table<PoolingVariant> pooling_table = {
    {"onednn", onednn::pooling_supported, onednn::pooling}};

} // namespace kg::vendor
