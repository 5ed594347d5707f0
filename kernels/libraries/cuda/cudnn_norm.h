// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Layer and RMS normalisation of packed rows, which cuDNN only offers in its graph interface. Each
// thread keeps the plan of its last problem, because building a plan compiles code.
#pragma once

#include "ops/normalization/kind.h"
#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstdint>

namespace kg::vendor::cudnn {

inline bool norm_supported(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

// gamma and beta have the type of x. beta and mean: layer normalisation only. rstd receives 1 /
// sqrt(variance + epsilon) of each row. If rstd is null, no statistics are stored (cuDNN's
// inference; otherwise its training).
struct NormForward {
  const void* x;
  const void* gamma;
  const void* beta;
  float epsilon;
  void* y;
  float* mean;
  float* rstd;
  std::int64_t rows;
  std::int64_t cols;
};
void norm_forward(normalization::Kind norm, Dtype dtype, const NormForward& problem,
                  Stream& stream);

// gamma, dgamma and dbeta have the type of x: cuDNN 9.19 has no engine that keeps 16-bit types'
// column sums in f32. mean and dbeta: layer normalisation only.
struct NormBackward {
  const void* dy;
  const void* x;
  const void* gamma;
  const float* mean;
  const float* rstd;
  void* dx;
  void* dgamma;
  void* dbeta;
  std::int64_t rows;
  std::int64_t cols;
};
void norm_backward(normalization::Kind norm, Dtype dtype, const NormBackward& problem,
                   Stream& stream);

} // namespace kg::vendor::cudnn
