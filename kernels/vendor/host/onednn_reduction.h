// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's reduction of a tensor to one whose extents are 1 where it is reduced.
#pragma once

#include "vendor/host/onednn.h"

namespace kg::vendor::onednn {

inline dnnl::primitive make_reduction(dnnl::algorithm op, const dnnl::memory::desc& from,
                                      const dnnl::memory::desc& to) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::reduction({engine(), op, from, to, 0.0F, 0.0F});
#else
  return dnnl::reduction({{op, from, to, 0.0F, 0.0F}, engine()});
#endif
}

} // namespace kg::vendor::onednn
