// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/argmax.h"

#include "runtime/error.h"
#include "vendor/dispatch.h"

#include <string>

namespace kg::vendor {

void argmax(std::string_view variant, const ArgmaxProblem& problem, const void* x,
            std::int32_t* out, Stream& stream) {
  const std::string what = join("argmax", {name(problem.dtype)});
  require_extents(what,
                  {{"outer", problem.outer}, {"axis", problem.axis}, {"inner", problem.inner}});
  const auto& entry = find(argmax_table, variant, what, problem);
  if (problem.results() == 0) return;
  require(problem.axis > 0, "kg::vendor::" + what + ": axis is 0; give at least one element");
  require_pointers(what, {{"x", x}, {"out", out}});
  entry.run(problem, x, out, stream);
}

} // namespace kg::vendor
