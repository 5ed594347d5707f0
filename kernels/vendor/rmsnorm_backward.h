// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// Packed rows; gamma and dgamma have the type of x, rstd is f32 whatever that is. All must be
// there.
struct RmsnormBackwardProblem {
  const void* dy;
  const void* x;
  const void* gamma;
  const float* rstd;
  void* dx;
  void* dgamma;
  std::int64_t rows;
  std::int64_t cols;
};

void rmsnorm_backward(std::string_view variant, Dtype dtype, const RmsnormBackwardProblem& problem,
                      Stream& stream);

using RmsnormBackwardVariant = VariantOf<rmsnorm_backward, Dtype>;
extern const Table<RmsnormBackwardVariant> rmsnorm_backward_table;

} // namespace kg::vendor
