// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One product per head of K and V, from which the chains of attention and its gradient are built.
// Heads of Q that share a head of K and V are rows of one product.
#pragma once

#include "libraries/attention.h"
#include "libraries/gemm.h"

#include <array>

namespace kg::vendor {

class HeadProducts {
 public:
  HeadProducts(std::string_view library, const AttentionProblem& problem, Stream& stream)
      : library_(library), dtype_(problem.dtype), batch_(problem.batch * problem.kv_heads),
        stream_(stream) {}

  // c = alpha a b. extents: rows of c, columns of c, length of the sums.
  void multiply(const std::array<std::int64_t, 3>& extents, float alpha, const Packed& a,
                const Packed& b, void* c) const {
    const auto [m, n, k] = extents;
    Gemm product = packed_gemm(dtype_, extents, alpha, a, b, c);
    product.batch = batch_;
    product.stride_a = m * k;
    product.stride_b = k * n;
    product.stride_c = m * n;
    gemm(library_, product, Math::pedantic, stream_);
  }

 private:
  std::string_view library_;
  Dtype dtype_;
  std::int64_t batch_;
  Stream& stream_;
};

} // namespace kg::vendor
