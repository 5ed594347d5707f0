// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/stream.h"
#include "vendor/library.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

struct Gemm {
  bool transpose_a, transpose_b;
  std::int64_t m, n, k;
  float alpha;
  const float* a;
  std::int64_t lda;
  const float* b;
  std::int64_t ldb;
  float beta;
  float* c;
  std::int64_t ldc;
}; // row-major
std::vector<std::string_view> gemm_variants();
void gemm(std::string_view variant, const Gemm& problem, Math math, Stream& stream);

// What a backend brings (host.cpp, cuda.cu): see vendor/dispatch.h.
struct GemmVariant {
  std::string_view name;
  void (*run)(const Gemm& problem, Math math, Stream& stream);
};
std::span<const GemmVariant> gemm_table();

} // namespace kg::vendor
