// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/gemm/gemm.h"

#include "vendor/cuda/cublas.h"

#include <optional>

namespace kg::vendor {
namespace cublas {
namespace {

std::optional<cudaDataType> gemm_type(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return CUDA_R_32F;
  case Dtype::f16: return CUDA_R_16F;
  case Dtype::bf16: return CUDA_R_16BF;
  default: return std::nullopt;
  }
}

bool gemm_supported(Dtype dtype) { return gemm_type(dtype).has_value(); }

// Math::pedantic is CUBLAS_PEDANTIC_MATH, Math::fastest CUBLAS_DEFAULT_MATH, which uses no TF32,
// but may reduce partial sums of 16-bit matrices in their own type unless it is told not to.
struct Arithmetic {
  int mode;
  cublasComputeType_t compute;
};
Arithmetic arithmetic_of(const Gemm& problem, Math math) {
  if (problem.tf32 && problem.dtype == Dtype::f32)
    return {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_COMPUTE_32F_FAST_TF32};
  if (math == Math::pedantic) return {CUBLAS_PEDANTIC_MATH, CUBLAS_COMPUTE_32F_PEDANTIC};
  return {CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION,
          CUBLAS_COMPUTE_32F};
}

// cublasGemmEx with f32 sums.
//
// The column view of C = op(A) op(B) is op(B)' op(A)': B first, sizes n x m, and each operand's
// view is transposed already, so the transpositions stay with their matrices.
void gemm(const Gemm& problem, Math math, Stream& stream) {
  const cudaDataType type = gemm_type(problem.dtype).value();
  const Arithmetic arithmetic = arithmetic_of(problem, math);
  cublasHandle_t handle = handle_on(stream, static_cast<cublasMath_t>(arithmetic.mode));
  KG_CHECK(cublasGemmEx_64(handle, transposition(problem.transpose_b),
                           transposition(problem.transpose_a), problem.n, problem.m, problem.k,
                           &problem.alpha, problem.b, type, problem.ldb, problem.a, type,
                           problem.lda, &problem.beta, problem.c, type, problem.ldc,
                           arithmetic.compute, CUBLAS_GEMM_DEFAULT));
}

} // namespace
} // namespace cublas

namespace {

constexpr GemmVariant kTable[] = {
    {"cublas", cublas::gemm_supported, cublas::gemm},
};

} // namespace

std::span<const GemmVariant> gemm_table() { return kTable; }

} // namespace kg::vendor
