// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/host/openblas.h"

#include "runtime/error.h"

#include <cblas.h>

#include <limits>
#include <sstream>

namespace kg::vendor::openblas {
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

} // namespace

// The configuration reads "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string version() {
  std::istringstream words(openblas_get_config());
  std::string library, number;
  words >> library >> number;
  return number.empty() ? library : number;
}

void gemm(const Gemm& problem, Math, Stream&) {
  cblas_sgemm(CblasRowMajor, transposition(problem.transpose_a), transposition(problem.transpose_b),
              narrow("m", problem.m), narrow("n", problem.n), narrow("k", problem.k), problem.alpha,
              problem.a, narrow("lda", problem.lda), problem.b, narrow("ldb", problem.ldb),
              problem.beta, problem.c, narrow("ldc", problem.ldc));
}

} // namespace kg::vendor::openblas
