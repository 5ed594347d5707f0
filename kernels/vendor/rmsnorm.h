// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// Packed rows; gamma has the type of x and must be there. rstd: where to put the rows' factors, one
// f32 per row, or null.
struct RmsnormProblem {
  const void* x;
  const void* gamma;
  float epsilon;
  void* y;
  std::int64_t rows;
  std::int64_t cols;
  float* rstd = nullptr;
};

void rmsnorm(std::string_view variant, Dtype dtype, const RmsnormProblem& problem, Stream& stream);

using RmsnormVariant = VariantOf<rmsnorm, Dtype>;
extern const Table<RmsnormVariant> rmsnorm_table;

} // namespace kg::vendor
