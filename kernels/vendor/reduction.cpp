// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/reduction.h"

#include "runtime/error.h"
#include "runtime/memory.h"
#include "vendor/dispatch.h"

#include <string>

namespace kg::vendor {

void reduction(std::string_view variant, const ReductionProblem& problem, const void* x, void* out,
               Stream& stream) {
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
