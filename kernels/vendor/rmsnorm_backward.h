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

std::vector<std::string_view> rmsnorm_backward_variants(Dtype dtype);
void rmsnorm_backward(std::string_view variant, Dtype dtype, const RmsnormBackwardProblem& problem,
                      Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct RmsnormBackwardVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  void (*run)(Dtype dtype, const RmsnormBackwardProblem& problem, Stream& stream);
};
std::span<const RmsnormBackwardVariant> rmsnorm_backward_table();

} // namespace kg::vendor
