// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/gemm/gemm.h"

#include "runtime/error.h"

#include <cblas.h>

#include <limits>
#include <string>

namespace kg::vendor {
namespace openblas {
namespace {

// OpenBLAS counts in blasint, 32 bits in the distributions' usual builds.
blasint narrow(const char* name, std::int64_t value) {
  require(value <= std::numeric_limits<blasint>::max(),
          std::string("kg::vendor::gemm: ") + name + " is " + std::to_string(value) +
              "; this OpenBLAS takes at most " +
              std::to_string(std::numeric_limits<blasint>::max()));
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE transposition(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

// One arithmetic only, so `math` chooses nothing: f32 products and sums, in an order fixed by
// shape, CPU and thread count.
void gemm(const Gemm& problem, Math, Stream&) {
  cblas_sgemm(CblasRowMajor, transposition(problem.transpose_a), transposition(problem.transpose_b),
              narrow("m", problem.m), narrow("n", problem.n), narrow("k", problem.k), problem.alpha,
              problem.a, narrow("lda", problem.lda), problem.b, narrow("ldb", problem.ldb),
              problem.beta, problem.c, narrow("ldc", problem.ldc));
}

} // namespace
} // namespace openblas

namespace {

constexpr GemmVariant kTable[] = {
    {"openblas", openblas::gemm},
};

} // namespace

std::span<const GemmVariant> gemm_table() { return kTable; }

} // namespace kg::vendor
