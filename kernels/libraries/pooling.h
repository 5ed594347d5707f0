// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "ops/pooling/problem.h"

namespace kg::vendor {

using PoolingVariant =
    VariantOf<void(pooling::Kind, Dtype, const pooling::Problem&, const void*, void*, Stream&),
              pooling::Kind, Dtype, const pooling::Problem&>;
extern const Table<PoolingVariant> pooling_table;

inline void pooling(std::string_view variant, pooling::Kind kind, Dtype dtype,
                    const pooling::Problem& problem, const void* x, void* y, Stream& stream) {
  const std::string what = join("pooling", {pooling::name(kind), name(dtype)});
  pooling::require_problem(what, problem);
  const auto& entry = find(pooling_table, variant, what, kind, dtype, problem);
  if (problem.planes() == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}});
  entry.run(kind, dtype, problem, x, y, stream);
}

} // namespace kg::vendor
