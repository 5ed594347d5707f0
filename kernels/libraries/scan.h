// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "ops/scan/op.h"

namespace kg::vendor {

// As in ops/scan/scan.h. The order of additions and the handling of NaN depend on the library.
struct ScanProblem {
  scan::Op op = scan::Op::sum;
  scan::Kind kind = scan::Kind::inclusive;
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0;
  bool segmented = false;
};

using ScanVariant =
    VariantOf<void(const ScanProblem&, const void*, const std::int8_t*, void*, Stream&),
              const ScanProblem&>;
extern const Table<ScanVariant> scan_table;

inline void scan(std::string_view variant, const ScanProblem& problem, const void* x,
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
