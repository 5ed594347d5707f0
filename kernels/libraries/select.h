// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "runtime/memory.h"

namespace kg::vendor {

// As in ops/select/select.h; elements are compared as integers of their size.
struct SelectProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0;
  bool flagged = true;
};

using SelectVariant = VariantOf<void(const SelectProblem&, const void*, const std::int8_t*, void*,
                                     std::int32_t*, Stream&),
                                const SelectProblem&>;
extern const Table<SelectVariant> select_table;

inline void select(std::string_view variant, const SelectProblem& problem, const void* x,
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
