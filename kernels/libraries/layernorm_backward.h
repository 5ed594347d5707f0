// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/variants.h"

namespace kg::vendor {

// Packed rows. gamma has the type of x, the statistics are always f32, and dgamma and dbeta have
// the type that layernorm_backward_sums returns. No pointer may be null: a library takes either
// variance and epsilon, or rstd = 1 / sqrt(variance + epsilon).
struct LayernormBackwardProblem {
  const void* dy;
  const void* x;
  const void* gamma;
  const float* mean;
  const float* variance;
  float epsilon;
  const float* rstd;
  void* dx;
  void* dgamma;
  void* dbeta;
  std::int64_t rows;
  std::int64_t cols;
};

// The variant's type of dgamma and dbeta.
Dtype layernorm_backward_sums(std::string_view variant, Dtype dtype);
void layernorm_backward(std::string_view variant, Dtype dtype,
                        const LayernormBackwardProblem& problem, Stream& stream);

struct LayernormBackwardVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  Dtype (*sums)(Dtype dtype);
  void (*run)(Dtype dtype, const LayernormBackwardProblem& problem, Stream& stream);
};
extern const Table<LayernormBackwardVariant> layernorm_backward_table;

} // namespace kg::vendor
