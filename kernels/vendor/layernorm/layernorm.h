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

// Packed rows; gamma and beta have the type of x and must be there; no statistics are given.
struct LayernormProblem {
  const void* x;
  const void* gamma;
  const void* beta;
  float epsilon;
  void* y;
  std::int64_t rows;
  std::int64_t cols;
};

std::vector<std::string_view> layernorm_variants(Dtype dtype);
void layernorm(std::string_view variant, Dtype dtype, const LayernormProblem& problem,
               Stream& stream);

// What a backend brings (host.cpp, cuda.cu): see vendor/dispatch.h.
struct LayernormVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  void (*run)(Dtype dtype, const LayernormProblem& problem, Stream& stream);
};
std::span<const LayernormVariant> layernorm_table();

} // namespace kg::vendor
