// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's reorder between two strided layouts of one tensor, with which we copy, transpose and
// permute.
#pragma once

#include "libraries/host/onednn.h"

namespace kg::vendor::onednn {

// nullopt: no reorder of this type.
inline std::optional<dnnl::memory::data_type> reorder_type(Dtype dtype) {
  return dtype == Dtype::i8 ? dnnl::memory::data_type::s8 : type_of(dtype);
}

inline bool reorder_supported(Dtype dtype) {
  return offers(reorder_type(dtype), [&](dnnl::memory::data_type type) {
    const dnnl::memory::desc from({kProbe, kProbe}, type, dnnl::memory::format_tag::ab);
    const dnnl::memory::desc to({kProbe, kProbe}, type, dnnl::memory::format_tag::ba);
    dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
  });
}

// Shape and strides in elements; `what` names the operation in errors.
inline void reorder(const char* what, Dtype dtype, const dnnl::memory::dims& shape, const void* x,
                    const dnnl::memory::dims& x_strides, void* y,
                    const dnnl::memory::dims& y_strides) {
  translate(what, [&] {
    const dnnl::memory::data_type type = reorder_type(dtype).value();
    const dnnl::memory::desc from(shape, type, x_strides);
    const dnnl::memory::desc to(shape, type, y_strides);
    execute(dnnl::reorder({engine(), from, engine(), to}),
            {{DNNL_ARG_FROM, wrap(from, x)}, {DNNL_ARG_TO, wrap(to, y)}});
  });
}

} // namespace kg::vendor::onednn
