// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batchnorm/problem.h"
#include "vendor/variants.h"

namespace kg::vendor {

// dy, x and dx have a type of their own, all else is f32; all must be there. rstd must not be 0
// (oneDNN takes the variance).
struct BatchnormBackwardProblem {
  batchnorm::Problem shape;
  const void* dy;
  const void* x;
  const float* gamma;
  const float* mean;
  const float* rstd;
  void* dx;
  float* dgamma;
  float* dbeta;
};

void batchnorm_backward(std::string_view variant, Dtype dtype,
                        const BatchnormBackwardProblem& problem, Stream& stream);

using BatchnormBackwardVariant = VariantOf<batchnorm_backward, Dtype, const batchnorm::Problem&>;
extern const Table<BatchnormBackwardVariant> batchnorm_backward_table;

} // namespace kg::vendor
