// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax_sum as a user of the libraries would write it: a softmax of alpha, then the product of
// the row of weights and the matrix whose rows are the tensors. f32 only.
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

using SoftmaxSumVariant =
    VariantOf<void(const float*, const float*, float*, std::int64_t, std::int64_t, Stream&)>;
extern const Table<SoftmaxSumVariant> softmax_sum_table;

inline void softmax_sum(std::string_view variant, const float* x, const float* alpha, float* y,
                        std::int64_t terms, std::int64_t n, Stream& stream) {
  const std::string what = join("softmax_sum", {name(Dtype::f32)});
  const auto& entry = find(softmax_sum_table, variant, what);
  require_extents(what, {{"terms", terms}, {"n", n}});
  if (terms == 0 || n == 0) return;
  require_pointers(what, {{"x", x}, {"alpha", alpha}, {"y", y}});
  entry.run(x, alpha, y, terms, n, stream);
}

} // namespace kg::vendor
