// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduction/op.h"
#include "vendor/variants.h"

namespace kg::vendor {

// A packed outer x axis x inner tensor, reduced over its middle extent.
struct ReductionProblem {
  reduction::Op op = reduction::Op::sum;
  Dtype dtype = Dtype::f32;
  std::int64_t outer = 1, axis = 1, inner = 1;

  std::int64_t results() const { return outer * inner; }
};

// The order of additions is the library's; Thrust's on the host (TBB) may change from run to run.
// Sums of nothing are 0; what else there is of nothing is an error.
void reduction(std::string_view variant, const ReductionProblem& problem, const void* x, void* out,
               Stream& stream);

using ReductionVariant = VariantOf<reduction, const ReductionProblem&>;
extern const Table<ReductionVariant> reduction_table;

} // namespace kg::vendor
