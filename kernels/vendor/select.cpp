// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/select.h"

#include "runtime/memory.h"
#include "vendor/dispatch.h"

#include <string>

namespace kg::vendor {

void select(std::string_view variant, const SelectProblem& problem, const void* x,
            const std::int8_t* flags, void* y, std::int32_t* count, Stream& stream) {
  const std::string what = join("select", {name(problem.dtype)});
  require_extents(what, {{"n", problem.n}});
  const auto& entry = find(select_table, variant, what, problem);
  require_pointers(what, {{"count", count}});
  if (problem.n == 0) return fill_bytes(count, 0, sizeof *count, stream);
  require_pointers(what, {{"x", x}, {"y", y}});
  if (problem.flagged) require_pointers(what, {{"flags", flags}});
  entry.run(problem, x, flags, y, count, stream);
}

} // namespace kg::vendor
