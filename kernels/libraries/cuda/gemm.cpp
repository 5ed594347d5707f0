// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gemm.h"

#include "libraries/cuda/cublas.h"
#include "libraries/cuda/cublaslt.h"

#include <optional>
#include <utility>

namespace kg::vendor {
namespace cublas {
namespace {

bool gemm_supported(Dtype dtype, gemm::Epilogue epilogue, gemm::BiasGradient bias_gradient) {
  return type_of(dtype).has_value() && epilogue == gemm::Epilogue::none &&
         bias_gradient == gemm::BiasGradient::none;
}

// Math::pedantic is CUBLAS_PEDANTIC_MATH, Math::fastest CUBLAS_DEFAULT_MATH. The latter uses no
// TF32; its flag forbids cuBLAS to reduce partial sums of 16-bit matrices in their own type.
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

// cublasGemmEx with f32 sums; cublasGemmStridedBatchedEx for a batch.
//
// The column view of C = op(A) op(B) is op(B)' op(A)': B first, sizes n x m. Each operand's view is
// already transposed, so each matrix keeps its own transposition.
void gemm(const Gemm& problem, Math math, Stream& stream) {
  const cudaDataType type = type_of(problem.dtype).value();
  const Arithmetic arithmetic = arithmetic_of(problem, math);
  cublasHandle_t handle = handle_on(stream, static_cast<cublasMath_t>(arithmetic.mode));
  const cublasOperation_t b = transposition(problem.transpose_b);
  const cublasOperation_t a = transposition(problem.transpose_a);
  if (problem.batch == 1)
    KG_CHECK(cublasGemmEx_64(handle, b, a, problem.n, problem.m, problem.k, &problem.alpha,
                             problem.b, type, problem.ldb, problem.a, type, problem.lda,
                             &problem.beta, problem.c, type, problem.ldc, arithmetic.compute,
                             CUBLAS_GEMM_DEFAULT));
  else
    KG_CHECK(cublasGemmStridedBatchedEx_64(
        handle, b, a, problem.n, problem.m, problem.k, &problem.alpha, problem.b, type, problem.ldb,
        problem.stride_b, problem.a, type, problem.lda, problem.stride_a, &problem.beta, problem.c,
        type, problem.ldc, problem.stride_c, problem.batch, arithmetic.compute,
        CUBLAS_GEMM_DEFAULT));
}

} // namespace
} // namespace cublas

namespace cublaslt {
namespace {

// nullopt: cuBLASLt has no such epilogue. Its gelu is the tanh form. Its drelu reads a bit mask in
// its own order, ours reads z. It is column-major, so its A is our B.
std::optional<cublasLtEpilogue_t> epilogue_of(gemm::Epilogue epilogue,
                                              gemm::BiasGradient bias_gradient) {
  const bool of_c = bias_gradient == gemm::BiasGradient::of_c;
  if (epilogue == gemm::Epilogue::dgelu_tanh && of_c) return CUBLASLT_EPILOGUE_DGELU_BGRAD;
  if (epilogue == gemm::Epilogue::none && bias_gradient == gemm::BiasGradient::of_a)
    return CUBLASLT_EPILOGUE_BGRADB;
  if (epilogue == gemm::Epilogue::none && bias_gradient == gemm::BiasGradient::of_b)
    return CUBLASLT_EPILOGUE_BGRADA;
  if (bias_gradient != gemm::BiasGradient::none) return std::nullopt;
  switch (epilogue) {
  case gemm::Epilogue::none: return CUBLASLT_EPILOGUE_DEFAULT;
  case gemm::Epilogue::bias: return CUBLASLT_EPILOGUE_BIAS;
  case gemm::Epilogue::bias_relu: return CUBLASLT_EPILOGUE_RELU_BIAS;
  case gemm::Epilogue::bias_gelu_tanh: return CUBLASLT_EPILOGUE_GELU_BIAS;
  case gemm::Epilogue::dgelu_tanh: return CUBLASLT_EPILOGUE_DGELU;
  default: return std::nullopt;
  }
}

bool gemm_supported(Dtype dtype, gemm::Epilogue epilogue, gemm::BiasGradient bias_gradient) {
  return cublas::type_of(dtype).has_value() && epilogue_of(epilogue, bias_gradient).has_value();
}

// 16-bit matrices have f32 sums in both modes.
cublasComputeType_t compute_of(const Gemm& problem, Math math) {
  if (problem.dtype != Dtype::f32) return CUBLAS_COMPUTE_32F;
  return cublas::arithmetic_of(problem, math).compute;
}

// The column view of a row-major matrix X, where op(X) is rows x columns.
Layout column_view(cudaDataType type, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                   bool transposed, const Batch& batch) {
  if (transposed) std::swap(rows, columns);
  return Layout(type, columns, rows, leading, batch);
}

// In the column view (see cublas::gemm), our bias per column is cuBLASLt's bias per row.
Product described(const Gemm& problem, Math math) {
  const cudaDataType type = cublas::type_of(problem.dtype).value();
  Operation operation(compute_of(problem, math));
  operation.set(CUBLASLT_MATMUL_DESC_TRANSA, cublas::transposition(problem.transpose_b));
  operation.set(CUBLASLT_MATMUL_DESC_TRANSB, cublas::transposition(problem.transpose_a));
  const cublasLtEpilogue_t epilogue =
      problem.keeps_z() ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS
                        : epilogue_of(problem.epilogue, problem.bias_gradient).value();
  operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  if (problem.adds_bias()) operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, problem.bias);
  if (problem.bias_gradient != gemm::BiasGradient::none)
    operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, problem.dbias);
  if (problem.differentiates() || problem.keeps_z()) {
    operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, problem.z);
    operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, problem.ldz);
  }
  const auto apart = [&problem](std::int64_t stride) { return Batch{problem.batch, stride}; };
  return Product(std::move(operation), {problem.alpha, problem.b,
                                        column_view(type, problem.k, problem.n, problem.ldb,
                                                    problem.transpose_b, apart(problem.stride_b)),
                                        problem.a,
                                        column_view(type, problem.m, problem.k, problem.lda,
                                                    problem.transpose_a, apart(problem.stride_a)),
                                        problem.beta, problem.c,
                                        column_view(type, problem.m, problem.n, problem.ldc, false,
                                                    apart(problem.stride_c))});
}

struct Kept {
  Gemm problem;
  Math math;
  Product product;
};

// cuBLASLt rejects empty products, so cuBLAS computes them. Keeps the Product of the last problem.
void gemm(const Gemm& problem, Math math, Stream& stream) {
  if (problem.alpha == 0 || problem.k == 0) {
    require(problem.epilogue == gemm::Epilogue::none,
            "cuBLASLt: no epilogue of an empty product; pass alpha != 0 and k > 0");
    return cublas::gemm(problem, math, stream);
  }
  thread_local std::optional<Kept> last;
  if (!last || last->problem != problem || last->math != math) {
    last.reset(); // keeps nothing if cuBLASLt refuses the problem
    last.emplace(Kept{problem, math, described(problem, math)});
  }
  last->product.multiply(math, stream);
}

} // namespace
} // namespace cublaslt

const Table<GemmVariant> gemm_table = {
    {"cublas", cublas::gemm_supported, cublas::gemm},
    {"cublaslt", cublaslt::gemm_supported, cublaslt::gemm},
};

} // namespace kg::vendor
