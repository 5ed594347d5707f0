// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

using AxpyVariant =
    VariantOf<void(Dtype, float, const void*, const void*, void*, std::int64_t, Stream&), Dtype>;
extern const Table<AxpyVariant> axpy_table;

// out = alpha x + y. BLAS only offers y += alpha x, so the BLAS variants first copy y to out: five
// passes over memory instead of three. These variants do not read x if alpha is 0.
inline void axpy(std::string_view variant, Dtype dtype, float alpha, const void* x, const void* y,
                 void* out, std::int64_t n, Stream& stream) {
  const std::string what = join("axpy", {name(dtype)});
  const auto& entry = find(axpy_table, variant, what, dtype);
  require_extents(what, {{"n", n}});
  if (n == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}, {"out", out}});
  entry.run(dtype, alpha, x, y, out, n, stream);
}

} // namespace kg::vendor
