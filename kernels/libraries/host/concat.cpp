// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/concat.h"

#include "libraries/host/onednn_reorder.h"

namespace kg::vendor {
namespace onednn {
namespace {

dnnl::concat::primitive_desc make_concat(const dnnl::memory::desc& whole,
                                         const std::vector<dnnl::memory::desc>& parts) {
  constexpr int kAxis = 1;
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), whole, kAxis, parts};
#else
  return {whole, kAxis, parts, engine()};
#endif
}

// oneDNN can concatenate every type that it can reorder, because its concat falls back on reorders.
void concat(Dtype dtype, std::span<const ConcatPart> parts, std::int64_t outer, void* whole,
            Stream&) {
  translate("concat", [&] {
    const dnnl::memory::data_type type = reorder_type(dtype).value();
    std::vector<dnnl::memory::desc> sources;
    Arguments arguments;
    std::int64_t cols = 0;
    for (const ConcatPart& part : parts) {
      const int source = DNNL_ARG_MULTIPLE_SRC + static_cast<int>(sources.size());
      sources.push_back(matrix(type, outer, part.cols));
      arguments[source] = wrap(sources.back(), part.data);
      cols += part.cols;
    }
    const dnnl::memory::desc result = matrix(type, outer, cols);
    arguments[DNNL_ARG_DST] = wrap(result, whole);
    execute(dnnl::concat(make_concat(result, sources)), arguments);
  });
}

} // namespace
} // namespace onednn

const Table<ConcatVariant> concat_table = {
    {"memcpy", nullptr}, {"onednn", onednn::concat}, {"thrust", nullptr}};

} // namespace kg::vendor
