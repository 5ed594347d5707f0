// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "runtime/memory.h"

namespace kg::vendor {

// As in ops/histogram/histogram.h.
struct HistogramProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0, bins = 0;
  double lower = 0, upper = 0;
};

using HistogramVariant =
    VariantOf<void(const HistogramProblem&, const void*, std::int32_t*, Stream&),
              const HistogramProblem&>;
extern const Table<HistogramVariant> histogram_table;

inline void histogram(std::string_view variant, const HistogramProblem& problem, const void* x,
                      std::int32_t* counts, Stream& stream) {
  const std::string what = join("histogram", {name(problem.dtype)});
  require_extents(what, {{"n", problem.n}, {"bins", problem.bins}});
  const auto& entry = find(histogram_table, variant, what, problem);
  if (problem.bins == 0) return;
  require_pointers(what, {{"counts", counts}});
  if (problem.n == 0)
    return fill_bytes(counts, 0, static_cast<std::size_t>(problem.bins) * sizeof *counts, stream);
  require_pointers(what, {{"x", x}});
  entry.run(problem, x, counts, stream);
}

} // namespace kg::vendor
