// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/attention.h"

#include "runtime/error.h"
#include "vendor/dispatch.h"
#include "vendor/gemm.h"
#include "vendor/masked_softmax.h"

#include <string>

namespace kg::vendor {
namespace {

bool supports(const AttentionVariant& variant, Dtype dtype) {
  return contains(gemm_variants(dtype), variant.products) &&
         contains(masked_softmax_variants(dtype), variant.softmax);
}

} // namespace

std::vector<std::string_view> attention_variants(Dtype dtype) {
  return names(attention_table(), [&](const auto& entry) { return supports(entry, dtype); });
}

void attention(std::string_view variant, const AttentionProblem& p, const AttentionTensors& tensors,
               Stream& stream) {
  const std::string what = join("attention", kg::name(p.dtype));
  const auto& entry = find(attention_table(), variant, what,
                           [&](const auto& each) { return supports(each, p.dtype); });
  require_extents(what, {{"batch", p.batch},
                         {"heads", p.heads},
                         {"kv_heads", p.kv_heads},
                         {"queries", p.queries},
                         {"keys", p.keys},
                         {"depth", p.depth},
                         {"value_depth", p.value_depth}});
  require(p.kv_heads > 0 && p.heads % p.kv_heads == 0,
          what + ": kv_heads is " + std::to_string(p.kv_heads) + " for " + std::to_string(p.heads) +
              " heads; it must divide them");
  if (p.batch * p.heads * p.queries * p.keys == 0) return;
  require_pointers(what, {{"q", tensors.q},
                          {"k", tensors.k},
                          {"v", tensors.v},
                          {"addend", tensors.addend},
                          {"scores", tensors.scores},
                          {"out", tensors.out}});
  // Heads that share keys are rows of one product.
  const std::int64_t rows = p.heads / p.kv_heads * p.queries;
  Gemm scores{.dtype = p.dtype,
              .transpose_a = false,
              .transpose_b = true,
              .m = rows,
              .n = p.keys,
              .k = p.depth,
              .alpha = 1,
              .a = tensors.q,
              .lda = p.depth,
              .b = tensors.k,
              .ldb = p.depth,
              .beta = 0,
              .c = tensors.scores,
              .ldc = p.keys};
  scores.batch = p.batch * p.kv_heads;
  scores.stride_a = rows * p.depth;
  scores.stride_b = p.keys * p.depth;
  scores.stride_c = rows * p.keys;
  gemm(entry.products, scores, Math::pedantic, stream);
  masked_softmax(entry.softmax, {p.dtype, p.scale, 1, p.batch * p.heads * p.queries, p.keys},
                 tensors.scores, tensors.addend, tensors.scores, stream);
  Gemm values{.dtype = p.dtype,
              .transpose_a = false,
              .transpose_b = false,
              .m = rows,
              .n = p.value_depth,
              .k = p.keys,
              .alpha = 1,
              .a = tensors.scores,
              .lda = p.keys,
              .b = tensors.v,
              .ldb = p.value_depth,
              .beta = 0,
              .c = tensors.out,
              .ldc = p.value_depth};
  values.batch = scores.batch;
  values.stride_a = rows * p.keys;
  values.stride_b = p.keys * p.value_depth;
  values.stride_c = rows * p.value_depth;
  gemm(entry.products, values, Math::pedantic, stream);
}

} // namespace kg::vendor
