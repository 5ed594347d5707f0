// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation as described to oneDNN, for the primitives of both directions.
#pragma once

#include "libraries/host/onednn.h"
#include "ops/batchnorm/problem.h"

namespace kg::vendor::onednn {

using BatchNormFlags = dnnl::normalization_flags;
inline BatchNormFlags affine() { return BatchNormFlags::use_scale | BatchNormFlags::use_shift; }

inline dnnl::memory::desc batchnorm_tensor(dnnl::memory::data_type type,
                                           const batchnorm::Problem& p) {
  const bool last = p.layout == batchnorm::Layout::nhwc;
  return {{p.batch, p.channels, 1, p.spatial},
          type,
          last ? dnnl::memory::format_tag::nhwc : dnnl::memory::format_tag::nchw};
}

inline dnnl::batch_normalization_forward::primitive_desc
batchnorm_forward(const dnnl::memory::desc& each, float epsilon, dnnl::prop_kind kind,
                  BatchNormFlags flags) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), kind, each, each, epsilon, flags};
#else
  return {{kind, each, epsilon, flags}, engine()};
#endif
}

} // namespace kg::vendor::onednn
