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

std::vector<std::string_view> residual_rmsnorm_variants(Dtype dtype);
void residual_rmsnorm(std::string_view variant, Dtype dtype, const ResidualRmsnormProblem& problem,
                      Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct ResidualRmsnormVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  void (*run)(Dtype dtype, const ResidualRmsnormProblem& problem, Stream& stream);
};
std::span<const ResidualRmsnormVariant> residual_rmsnorm_table();

} // namespace kg::vendor
