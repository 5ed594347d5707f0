// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "ops/reduction/op.h"
#include "runtime/error.h"
#include "runtime/memory.h"

namespace kg::vendor {

// A packed outer x axis x inner tensor, reduced over its middle extent.
struct ReductionProblem {
  reduction::Op op = reduction::Op::sum;
  Dtype dtype = Dtype::f32;
  std::int64_t outer = 1, axis = 1, inner = 1;

  std::int64_t results() const { return outer * inner; }
};

using ReductionVariant =
    VariantOf<void(const ReductionProblem&, const void*, void*, Stream&), const ReductionProblem&>;
extern const Table<ReductionVariant> reduction_table;

// The order of additions is the library's; Thrust's on the host (TBB) may change from run to run.
// Sums of nothing are 0; what else there is of nothing is an error.
inline void reduction(std::string_view variant, const ReductionProblem& problem, const void* x,
                      void* out, Stream& stream) {
  const std::string what = join("reduction", {name(problem.op), name(problem.dtype)});
  require_extents(what,
                  {{"outer", problem.outer}, {"axis", problem.axis}, {"inner", problem.inner}});
  const auto& entry = find(reduction_table, variant, what, problem);
  if (problem.results() == 0) return;
  require_pointers(what, {{"out", out}});
  const std::size_t bytes = static_cast<std::size_t>(problem.results()) * size_of(problem.dtype);
  if (problem.axis == 0) {
    require(problem.op == reduction::Op::sum,
            "kg::vendor::" + what + ": axis is 0; only sums of nothing have one answer");
    fill_bytes(out, 0, bytes, stream);
    return;
  }
  require_pointers(what, {{"x", x}});
  if (problem.axis == 1) { // one term each, which cuDNN and oneDNN refuse to call a reduction
    copy_on_device(out, x, bytes, stream);
    return;
  }
  entry.run(problem, x, out, stream);
}

} // namespace kg::vendor
