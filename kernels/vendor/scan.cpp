// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/scan.h"

#include "vendor/dispatch.h"

#include <string>

namespace kg::vendor {

void scan(std::string_view variant, const ScanProblem& problem, const void* x,
          const std::int8_t* heads, void* y, Stream& stream) {
  const std::string what = join("scan", {name(problem.op), name(problem.dtype)});
  require_extents(what, {{"n", problem.n}});
  const auto& entry = find(scan_table, variant, what, problem);
  if (problem.n == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}});
  if (problem.segmented) require_pointers(what, {{"heads", heads}});
  entry.run(problem, x, heads, y, stream);
}

} // namespace kg::vendor
