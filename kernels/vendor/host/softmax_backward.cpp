// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/softmax_backward.h"

#include "vendor/host/onednn.h"

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

// A backward primitive is made with the forward one's description as a hint.
dnnl::primitive make_softmax_backward(softmax::Kind kind, const memory::desc& each) {
  const dnnl::engine& engine = onednn::engine();
  constexpr auto kTraining = dnnl::prop_kind::forward_training;
  constexpr int kAxis = 1;
  const auto algorithm = kind == softmax::Kind::softmax ? dnnl::algorithm::softmax_accurate
                                                        : dnnl::algorithm::softmax_log;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::softmax_forward::primitive_desc forward(engine, kTraining, algorithm, each, each,
                                                      kAxis);
  return dnnl::softmax_backward({engine, algorithm, each, each, each, kAxis, forward});
#else
  const dnnl::softmax_v2_forward::primitive_desc forward({kTraining, algorithm, each, each, kAxis},
                                                         engine);
  return dnnl::softmax_v2_backward({{algorithm, each, each, each, kAxis}, engine, forward});
#endif
}

bool softmax_backward_supported(softmax::Kind kind, Dtype dtype) {
  const auto type = type_of(dtype);
  return type && creatable([&] { make_softmax_backward(kind, matrix(*type, kProbe, kProbe)); });
}

void softmax_backward(softmax::Kind kind, Dtype dtype, const void* y, const void* dy, void* dx,
                      std::int64_t rows, std::int64_t cols, Stream&) {
  translate("softmax_backward", [&] {
    const memory::desc each = matrix(type_of(dtype).value(), rows, cols);
    execute(make_softmax_backward(kind, each), {{DNNL_ARG_DST, wrap(each, y)},
                                                {DNNL_ARG_DIFF_DST, wrap(each, dy)},
                                                {DNNL_ARG_DIFF_SRC, wrap(each, dx)}});
  });
}

} // namespace
} // namespace onednn

std::span<const SoftmaxBackwardVariant> softmax_backward_table() {
  static constexpr SoftmaxBackwardVariant kTable[] = {
      {"onednn", onednn::softmax_backward_supported, onednn::softmax_backward}};
  return kTable;
}

} // namespace kg::vendor
