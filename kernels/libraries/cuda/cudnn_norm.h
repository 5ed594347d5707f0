// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Layer and root mean square normalisation of packed rows, which cuDNN has in its graph interface
// only. The plan of the last problem is kept, for each thread: making one compiles.
#pragma once

#include "ops/normalization/kind.h"
#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstdint>

namespace kg::vendor::cudnn {

inline bool norm_supported(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

// gamma and beta have the type of x. beta and mean: of layer normalisation alone. With rstd, the
// rows' 1 / sqrt(variance + epsilon), the statistics are stored (cuDNN's training), without it they
// are not (inference).
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

// gamma and the columns' gradients have the type of x: for 16-bit ones cuDNN 9.19 has no engine
// that keeps the sums in f32. mean and dbeta: of layer normalisation alone.
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
