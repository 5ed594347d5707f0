// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// Packed rows; gamma and beta have the type of x and must be there. mean and rstd: where to put the
// rows' statistics, one f32 per row each, or both null.
struct LayernormProblem {
  const void* x;
  const void* gamma;
  const void* beta;
  float epsilon;
  void* y;
  std::int64_t rows;
  std::int64_t cols;
  float* mean = nullptr;
  float* rstd = nullptr;
};

// Whether a library must store the rows' statistics.
enum class Statistics { none, stored };
void layernorm(std::string_view variant, Dtype dtype, const LayernormProblem& problem,
               Stream& stream);

using LayernormVariant = VariantOf<layernorm, Dtype, Statistics>;
extern const Table<LayernormVariant> layernorm_table;

} // namespace kg::vendor
