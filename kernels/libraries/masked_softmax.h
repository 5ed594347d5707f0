// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Masked softmax as a user of the libraries would write it: y = scale x + addend, then the softmax
// in place. The addend is 0 for a kept element and -inf for a masked one. The sum passes through
// memory and is rounded to the element type. A row is NaN if no element is kept, or if a masked
// element is NaN or +inf after scaling.
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

// x and y: sequences x queries x cols, packed; addend: queries x cols, the same for each sequence.
struct MaskedSoftmaxProblem {
  Dtype dtype = Dtype::f32;
  float scale = 1;
  std::int64_t sequences = 0;
  std::int64_t queries = 0;
  std::int64_t cols = 0;
};

using MaskedSoftmaxVariant =
    VariantOf<void(const MaskedSoftmaxProblem&, const void*, const void*, void*, Stream&), Dtype>;
extern const Table<MaskedSoftmaxVariant> masked_softmax_table;

inline void masked_softmax(std::string_view variant, const MaskedSoftmaxProblem& problem,
                           const void* x, const void* addend, void* y, Stream& stream) {
  const std::string what = join("masked_softmax", {name(problem.dtype)});
  const auto& entry = find(masked_softmax_table, variant, what, problem.dtype);
  require_extents(
      what,
      {{"sequences", problem.sequences}, {"queries", problem.queries}, {"cols", problem.cols}});
  if (problem.sequences == 0 || problem.queries == 0 || problem.cols == 0) return;
  require_pointers(what, {{"x", x}, {"addend", addend}, {"y", y}});
  entry.run(problem, x, addend, y, stream);
}

} // namespace kg::vendor
