// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's reduction of a tensor. Reduced axes have extent 1 in the result.
#pragma once

#include "libraries/host/onednn.h"

namespace kg::vendor::onednn {

inline dnnl::primitive make_reduction(dnnl::algorithm op, const dnnl::memory::desc& from,
                                      const dnnl::memory::desc& to) {
  constexpr float kUnused = 0; // a parameter of norms
  return make<dnnl::reduction>(op, from, to, kUnused, kUnused);
}

} // namespace kg::vendor::onednn
