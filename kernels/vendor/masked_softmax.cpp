// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/masked_softmax.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void masked_softmax(std::string_view variant, const MaskedSoftmaxProblem& problem, const void* x,
                    const void* addend, void* y, Stream& stream) {
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
