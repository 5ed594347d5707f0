// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/pooling_backward.h"

#include "libraries/host/onednn_pooling.h"

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

#if DNNL_VERSION_MAJOR >= 3
using PoolingBackward = dnnl::pooling_backward;
#else
using PoolingBackward = dnnl::pooling_v2_backward;
#endif

struct Pair {
  PoolingForward::primitive_desc forward;
  PoolingBackward::primitive_desc backward;
};

Pair make_pair(const PoolingDescription& d) {
  const auto forward = pooling_forward(d, dnnl::prop_kind::forward_training);
  return {forward, describe_backward<PoolingBackward>(forward, d.algorithm, d.x, d.y, d.strides,
                                                      d.kernel, d.dilation, d.before, d.after)};
}

bool pooling_backward_supported(pooling::Kind kind, Dtype dtype, const pooling::Problem& problem) {
  return pooling_agrees(kind, problem) && offers(type_of(dtype), [&](memory::data_type type) {
           make_pair(describe_pooling(kind, type, problem));
         });
}

// The gradient of max pooling needs oneDNN's workspace with the positions of the maxima, which only
// the forward pass writes. So the forward pass runs first, and its time counts.
void pooling_backward(pooling::Kind kind, Dtype dtype, const pooling::Problem& problem,
                      const PoolingGradient& gradient, Stream&) {
  translate("pooling_backward", [&] {
    const PoolingDescription d = describe_pooling(kind, type_of(dtype).value(), problem);
    const Pair pair = make_pair(d);
    Arguments arguments = {{DNNL_ARG_DIFF_DST, wrap(d.y, gradient.dy)},
                           {DNNL_ARG_DIFF_SRC, wrap(d.x, gradient.dx)}};
    if (kind == pooling::Kind::max) {
      const memory y(d.y, engine());
      const memory notes(pair.forward.workspace_desc(), engine());
      execute(
          PoolingForward(pair.forward),
          {{DNNL_ARG_SRC, wrap(d.x, gradient.x)}, {DNNL_ARG_DST, y}, {DNNL_ARG_WORKSPACE, notes}});
      arguments.insert({DNNL_ARG_WORKSPACE, notes});
    }
    execute(PoolingBackward(pair.backward), arguments);
  });
}

} // namespace
} // namespace onednn

const Table<PoolingBackwardVariant> pooling_backward_table = {
    {"onednn", onednn::pooling_backward_supported, onednn::pooling_backward}};

} // namespace kg::vendor
