// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

// Packed rows; gamma has the type of x, the statistics and the columns' gradients are f32 whatever
// that is. All must be there. Libraries take the variance, not 1 / sqrt(variance + epsilon).
struct LayernormBackwardProblem {
  const void* dy;
  const void* x;
  const void* gamma;
  const float* mean;
  const float* variance;
  float epsilon;
  void* dx;
  float* dgamma;
  float* dbeta;
  std::int64_t rows;
  std::int64_t cols;
};

std::vector<std::string_view> layernorm_backward_variants(Dtype dtype);
void layernorm_backward(std::string_view variant, Dtype dtype,
                        const LayernormBackwardProblem& problem, Stream& stream);

// What a backend brings (host.cpp, cuda.cu): see vendor/dispatch.h.
struct LayernormBackwardVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  void (*run)(Dtype dtype, const LayernormBackwardProblem& problem, Stream& stream);
};
std::span<const LayernormBackwardVariant> layernorm_backward_table();

} // namespace kg::vendor
