// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's arithmetic on two tensors. It repeats a tensor along axes of extent 1.
#pragma once

#include "libraries/host/onednn.h"
#include "ops/elementwise/op.h"

namespace kg::vendor::onednn {

inline dnnl::algorithm algorithm_of(elementwise::Op op) {
  switch (op) {
  case elementwise::Op::add: return dnnl::algorithm::binary_add;
  case elementwise::Op::sub: return dnnl::algorithm::binary_sub;
  case elementwise::Op::mul: return dnnl::algorithm::binary_mul;
  case elementwise::Op::div: return dnnl::algorithm::binary_div;
  }
  return dnnl::algorithm::undef;
}

struct Tensor {
  dnnl::memory::desc desc;
  const void* data;
};

// out = a op b
inline void combine(elementwise::Op op, const Tensor& a, const Tensor& b, const Tensor& out) {
  execute(make<dnnl::binary>(algorithm_of(op), a.desc, b.desc, out.desc),
          {{DNNL_ARG_SRC_0, wrap(a.desc, a.data)},
           {DNNL_ARG_SRC_1, wrap(b.desc, b.data)},
           {DNNL_ARG_DST, wrap(out.desc, out.data)}});
}

} // namespace kg::vendor::onednn
