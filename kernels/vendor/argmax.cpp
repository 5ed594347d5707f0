// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/argmax.h"

#include "runtime/error.h"
#include "vendor/dispatch.h"

#include <string>

namespace kg::vendor {

std::vector<std::string_view> argmax_variants(const ArgmaxProblem& problem) {
  return names(argmax_table(), [&](const auto& entry) { return entry.supports(problem); });
}

void argmax(std::string_view variant, const ArgmaxProblem& problem, const void* x,
            std::int32_t* out, Stream& stream) {
  const std::string what = join("argmax", kg::name(problem.dtype));
  require_extents(what,
                  {{"outer", problem.outer}, {"axis", problem.axis}, {"inner", problem.inner}});
  const auto& entry =
      find(argmax_table(), variant, what, [&](const auto& each) { return each.supports(problem); });
  if (problem.results() == 0) return;
  require(problem.axis > 0, "kg::vendor::" + what + ": axis is 0; give at least one element");
  require_pointers(what, {{"x", x}, {"out", out}});
  entry.run(problem, x, out, stream);
}

} // namespace kg::vendor
