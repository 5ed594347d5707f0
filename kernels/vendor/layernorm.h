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

// Those that store the rows' statistics, or that need not.
enum class Statistics { none, stored };
Names layernorm_variants(Dtype dtype, Statistics statistics = Statistics::none);
void layernorm(std::string_view variant, Dtype dtype, const LayernormProblem& problem,
               Stream& stream);

using LayernormVariant = VariantOf<layernorm_variants, layernorm>;
extern const Table<LayernormVariant> layernorm_table;

} // namespace kg::vendor
