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

// Packed rows; gamma has the type of x and must be there. rstd: where to put the rows' factors, one
// f32 per row, or null.
struct RmsnormProblem {
  const void* x;
  const void* gamma;
  float epsilon;
  void* y;
  std::int64_t rows;
  std::int64_t cols;
  float* rstd = nullptr;
};

std::vector<std::string_view> rmsnorm_variants(Dtype dtype);
void rmsnorm(std::string_view variant, Dtype dtype, const RmsnormProblem& problem, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct RmsnormVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  void (*run)(Dtype dtype, const RmsnormProblem& problem, Stream& stream);
};
std::span<const RmsnormVariant> rmsnorm_table();

} // namespace kg::vendor
