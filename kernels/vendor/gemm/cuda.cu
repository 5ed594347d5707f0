// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/gemm/gemm.h"

#include "vendor/cuda/cublas.h"

namespace kg::vendor {
namespace cublas {
namespace {

// cublasSgemm. Math::pedantic is CUBLAS_PEDANTIC_MATH, Math::fastest CUBLAS_DEFAULT_MATH, which
// uses no TF32: f32 throughout.
//
// The column view of C = op(A) op(B) is op(B)' op(A)': B first, sizes n x m, and each operand's
// view is transposed already, so the transpositions stay with their matrices.
void gemm(const Gemm& problem, Math math, Stream& stream) {
  const auto mode = math == Math::pedantic ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH;
  KG_CHECK(cublasSgemm_64(handle_on(stream, mode), transposition(problem.transpose_b),
                          transposition(problem.transpose_a), problem.n, problem.m, problem.k,
                          &problem.alpha, problem.b, problem.ldb, problem.a, problem.lda,
                          &problem.beta, problem.c, problem.ldc));
}

} // namespace
} // namespace cublas

namespace {

constexpr GemmVariant kTable[] = {
    {"cublas", cublas::gemm},
};

} // namespace

std::span<const GemmVariant> gemm_table() { return kTable; }

} // namespace kg::vendor
