// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// Packed rows; z = x + residual, and y its rmsnorm. gamma has the type of x. All must be there.
struct ResidualRmsnormProblem {
  const void* x;
  const void* residual;
  const void* gamma;
  float epsilon;
  void* z;
  void* y;
  std::int64_t rows;
  std::int64_t cols;
};

void residual_rmsnorm(std::string_view variant, Dtype dtype, const ResidualRmsnormProblem& problem,
                      Stream& stream);

using ResidualRmsnormVariant = VariantOf<residual_rmsnorm, Dtype>;
extern const Table<ResidualRmsnormVariant> residual_rmsnorm_table;

} // namespace kg::vendor
