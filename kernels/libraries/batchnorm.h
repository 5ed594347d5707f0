// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/variants.h"
#include "ops/batchnorm/problem.h"

namespace kg::vendor {

// x and y have the given Dtype, all other arrays are f32; no pointer may be null. Training writes
// the batch mean and 1 / sqrt(variance + epsilon) (`spread`). It updates no running statistics,
// because not every library does. Inference reads the running mean and variance (`spread`).
struct BatchnormProblem {
  batchnorm::Problem shape;
  const void* x;
  const float* gamma;
  const float* beta;
  float epsilon;
  void* y;
  float* mean;
  float* spread;
};

void batchnorm_training(std::string_view variant, Dtype dtype, const BatchnormProblem& problem,
                        Stream& stream);
void batchnorm_inference(std::string_view variant, Dtype dtype, const BatchnormProblem& problem,
                         Stream& stream);

struct BatchnormVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype, const batchnorm::Problem& shape);
  void (*train)(Dtype dtype, const BatchnormProblem& problem, Stream& stream);
  void (*infer)(Dtype dtype, const BatchnormProblem& problem, Stream& stream);
};
extern const Table<BatchnormVariant> batchnorm_table;

} // namespace kg::vendor
