// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "runtime/error.h"

namespace kg::vendor {

// A packed outer x axis x inner tensor. The result is the index of the first largest element along
// the middle axis. The handling of NaN depends on the library.
struct ArgmaxProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t outer = 1, axis = 1, inner = 1;

  std::int64_t results() const { return outer * inner; }
};

using ArgmaxVariant = VariantOf<void(const ArgmaxProblem&, const void*, std::int32_t*, Stream&),
                                const ArgmaxProblem&>;
extern const Table<ArgmaxVariant> argmax_table;

inline void argmax(std::string_view variant, const ArgmaxProblem& problem, const void* x,
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
