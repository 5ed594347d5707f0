// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax of a matrix's rows as described to oneDNN, for the primitives of both directions.
#pragma once

#include "libraries/host/onednn.h"
#include "ops/softmax/kind.h"

namespace kg::vendor::onednn {

#if DNNL_VERSION_MAJOR >= 3
using SoftmaxForward = dnnl::softmax_forward;
using SoftmaxBackward = dnnl::softmax_backward;
#else
using SoftmaxForward = dnnl::softmax_v2_forward;
using SoftmaxBackward = dnnl::softmax_v2_backward;
#endif

inline constexpr int kSoftmaxAxis = 1;

inline dnnl::algorithm algorithm_of(softmax::Kind kind) {
  return kind == softmax::Kind::softmax ? dnnl::algorithm::softmax_accurate
                                        : dnnl::algorithm::softmax_log;
}

inline SoftmaxForward::primitive_desc
softmax_forward(softmax::Kind kind, const dnnl::memory::desc& each, dnnl::prop_kind pass) {
  return describe<SoftmaxForward>(pass, algorithm_of(kind), each, each, kSoftmaxAxis);
}

} // namespace kg::vendor::onednn
