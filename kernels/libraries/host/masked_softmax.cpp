// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/masked_softmax.h"

#include "libraries/dispatch.h"
#include "libraries/host/onednn.h"
#include "libraries/softmax.h"

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

memory::desc score_tensor(memory::data_type type, std::int64_t sequences, std::int64_t queries,
                          std::int64_t cols) {
  return {{sequences, queries, cols}, type, memory::format_tag::abc};
}

// scale x + addend. Version 2 takes the scale with the primitive, version 3 with the arguments.
dnnl::primitive make_sum(const memory::desc& each, const memory::desc& addend,
                         [[maybe_unused]] float scale) {
  constexpr int kOneForAll = 0; // one scale for the whole tensor
  dnnl::primitive_attr attributes;
#if DNNL_VERSION_MAJOR >= 3
  attributes.set_scales_mask(DNNL_ARG_SRC_0, kOneForAll);
#else
  attributes.set_scales(DNNL_ARG_SRC_0, kOneForAll, {scale});
#endif
  return make_with<dnnl::binary>(attributes, dnnl::algorithm::binary_add, each, addend, each);
}

bool masked_softmax_supported(Dtype dtype) {
  return contains(names(softmax_table, softmax::Kind::softmax, dtype), "onednn") &&
         offers(type_of(dtype), [&](memory::data_type type) {
           make_sum(score_tensor(type, 1, kProbe, kProbe), score_tensor(type, 1, kProbe, kProbe),
                    1);
         });
}

void masked_softmax(const MaskedSoftmaxProblem& problem, const void* x, const void* addend, void* y,
                    Stream& stream) {
  translate("masked_softmax", [&] {
    const memory::data_type type = type_of(problem.dtype).value();
    const memory::desc each = score_tensor(type, problem.sequences, problem.queries, problem.cols);
    const memory::desc mask = score_tensor(type, 1, problem.queries, problem.cols);
    Arguments arguments = {{DNNL_ARG_SRC_0, wrap(each, x)},
                           {DNNL_ARG_SRC_1, wrap(mask, addend)},
                           {DNNL_ARG_DST, wrap(each, y)}};
#if DNNL_VERSION_MAJOR >= 3
    arguments.emplace(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC_0,
                      wrap(vector(memory::data_type::f32, 1), &problem.scale));
#endif
    execute(make_sum(each, mask, problem.scale), arguments);
  });
  softmax("onednn", softmax::Kind::softmax, problem.dtype, y, y,
          problem.sequences * problem.queries, problem.cols, stream);
}

} // namespace
} // namespace onednn

const Table<MaskedSoftmaxVariant> masked_softmax_table = {
    {"onednn", onednn::masked_softmax_supported, onednn::masked_softmax}};

} // namespace kg::vendor
