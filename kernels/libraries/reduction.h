// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "ops/reduction/op.h"
#include "runtime/error.h"
#include "runtime/memory.h"

namespace kg::vendor {

// A packed outer x axis x inner tensor, reduced along its middle axis.
struct ReductionProblem {
  reduction::Op op = reduction::Op::sum;
  Dtype dtype = Dtype::f32;
  std::int64_t outer = 1, axis = 1, inner = 1;

  std::int64_t results() const { return outer * inner; }
};

using ReductionVariant =
    VariantOf<void(const ReductionProblem&, const void*, void*, Stream&), const ReductionProblem&>;
extern const Table<ReductionVariant> reduction_table;

// The order of additions depends on the library; Thrust's on the host (TBB) may vary between runs.
// Empty sums are 0. Any other empty reduction is an error.
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
  if (problem.axis == 1) { // cuDNN and oneDNN reject a reduction of one element
    copy_on_device(out, x, bytes, stream);
    return;
  }
  entry.run(problem, x, out, stream);
}

} // namespace kg::vendor
