// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMMs. cuBLAS matrices are column-major, a layout that cblas supports.
#include "cuda/source/blas/handle.h"

#include <cblas.h>
#include <vector>

namespace kg::foreign::blas {
namespace {

struct Matrix {
  void* data;
  cudaDataType type;
  int ld;
  int rows = 0;
  int columns = 0;
};

std::size_t bytes_of(cudaDataType type) {
  switch (type) {
  case CUDA_R_64F: return 8;
  case CUDA_R_32F: return 4;
  case CUDA_R_16F:
  case CUDA_R_16BF: return 2;
  default:
    throw Refused(CUBLAS_STATUS_NOT_SUPPORTED,
                  "data type " + std::to_string(type) + "; f32, f64, f16 and bf16 are supported");
  }
}

CBLAS_TRANSPOSE transposed(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}

template <class Function>
auto with_type(cudaDataType type, Function function) {
  switch (type) {
  case CUDA_R_64F: return function(double{});
  case CUDA_R_16F: return function(f16{});
  case CUDA_R_16BF: return function(bf16{});
  default: return function(float{});
  }
}
template <class T>
float number(T value) {
  return to_float(value);
}
double number(double value) { return value; }

// The elements in the compute type, without gaps.
template <class Compute>
std::vector<Compute> widened(const Matrix& matrix) {
  std::vector<Compute> values;
  values.reserve(static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.columns));
  with_type(matrix.type, [&](auto element) {
    const auto* column = static_cast<const decltype(element)*>(matrix.data);
    for (int j = 0; j < matrix.columns; ++j, column += matrix.ld) {
      for (int i = 0; i < matrix.rows; ++i)
        values.push_back(static_cast<Compute>(number(column[i])));
    }
  });
  return values;
}
template <class Compute>
void narrow_into(const Matrix& matrix, const std::vector<Compute>& values) {
  with_type(matrix.type, [&](auto element) {
    using T = decltype(element);
    auto* column = static_cast<T*>(matrix.data);
    const Compute* from = values.data();
    for (int j = 0; j < matrix.columns; ++j, column += matrix.ld) {
      for (int i = 0; i < matrix.rows; ++i, ++from) {
        if constexpr (std::is_same_v<T, double>) {
          column[i] = *from;
        } else {
          column[i] = from_float<T>(static_cast<float>(*from));
        }
      }
    }
  });
}

void multiply(cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, float alpha,
              const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasColMajor, transposed(op_a), transposed(op_b), m, n, k, alpha, a, lda, b, ldb,
              beta, c, ldc);
}
void multiply(cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, double alpha,
              const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasColMajor, transposed(op_a), transposed(op_b), m, n, k, alpha, a, lda, b, ldb,
              beta, c, ldc);
}

template <class Compute>
void product(cublasOperation_t op_a, cublasOperation_t op_b, int k, Compute alpha, const Matrix& a,
             const Matrix& b, Compute beta, const Matrix& c) {
  constexpr cudaDataType kType = std::is_same_v<Compute, double> ? CUDA_R_64F : CUDA_R_32F;
  if (a.type == kType && b.type == kType && c.type == kType) {
    multiply(op_a, op_b, c.rows, c.columns, k, alpha, static_cast<const Compute*>(a.data), a.ld,
             static_cast<const Compute*>(b.data), b.ld, beta, static_cast<Compute*>(c.data), c.ld);
  } else {
    // A matrix that is scaled by zero is not read.
    const auto wide_a = alpha != 0 ? widened<Compute>(a) : std::vector<Compute>{};
    const auto wide_b = alpha != 0 ? widened<Compute>(b) : std::vector<Compute>{};
    std::vector<Compute> wide_c(static_cast<std::size_t>(c.rows) *
                                static_cast<std::size_t>(c.columns));
    if (beta != 0) wide_c = widened<Compute>(c);
    multiply(op_a, op_b, c.rows, c.columns, alpha != 0 ? k : 0, alpha, wide_a.data(),
             std::max(a.rows, 1), wide_b.data(), std::max(b.rows, 1), beta, wide_c.data(), c.rows);
    narrow_into(c, wide_c);
  }
  for (int j = 0; j < c.columns; ++j) {
    const std::size_t bytes = bytes_of(c.type);
    note_written(static_cast<char*>(c.data) +
                     static_cast<std::size_t>(j) * static_cast<std::size_t>(c.ld) * bytes,
                 static_cast<std::size_t>(c.rows) * bytes);
  }
}

// One GEMM, with checked matrices. `Compute`: float or double; here the type of alpha and beta.
template <class Compute>
void gemm(const cublasContext& context, cublasOperation_t op_a, cublasOperation_t op_b, int m,
          int n, int k, Compute alpha, Matrix a, Matrix b, Compute beta, Matrix c) {
  demand_valid(m >= 0 && n >= 0 && k >= 0, "a negative extent");
  a.rows = op_a == CUBLAS_OP_N ? m : k;
  a.columns = op_a == CUBLAS_OP_N ? k : m;
  b.rows = op_b == CUBLAS_OP_N ? k : n;
  b.columns = op_b == CUBLAS_OP_N ? n : k;
  c.rows = m;
  c.columns = n;
  demand_matrix(c.data, bytes_of(c.type), c.rows, c.columns, c.ld, "C");
  if (alpha != 0) {
    demand_matrix(a.data, bytes_of(a.type), a.rows, a.columns, a.ld, "A");
    demand_matrix(b.data, bytes_of(b.type), b.rows, b.columns, b.ld, "B");
  }
  if (m == 0 || n == 0) return;
  enqueue(context, [=] { product<Compute>(op_a, op_b, k, alpha, a, b, beta, c); });
}

// Matrix `i` of a batch.
Matrix at(const void* data, cudaDataType type, int ld, long long stride, int i) {
  const long long offset = stride * i * static_cast<long long>(bytes_of(type));
  return {const_cast<char*>(static_cast<const char*>(data)) + offset, type, ld};
}

template <class T>
constexpr cudaDataType kTypeOf = CUDA_R_32F;
template <>
constexpr cudaDataType kTypeOf<double> = CUDA_R_64F;
template <>
constexpr cudaDataType kTypeOf<f16> = CUDA_R_16F;

// The compute type for T.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
cublasStatus_t strided(const char* name, cublasHandle_t handle, cublasOperation_t op_a,
                       cublasOperation_t op_b, int m, int n, int k, const T* alpha, const T* a,
                       int lda, long long stride_a, const T* b, int ldb, long long stride_b,
                       const T* beta, T* c, int ldc, long long stride_c, int count) {
  return call(name, [&] {
    const cublasContext& on = context(handle);
    demand_valid(count >= 0, "a negative number of matrix products");
    for (int i = 0; i < count; ++i) {
      gemm<Wide<T>>(on, op_a, op_b, m, n, k, number(*alpha), at(a, kTypeOf<T>, lda, stride_a, i),
                    at(b, kTypeOf<T>, ldb, stride_b, i), number(*beta),
                    at(c, kTypeOf<T>, ldc, stride_c, i));
    }
  });
}

template <class T>
cublasStatus_t batched(const char* name, cublasHandle_t handle, cublasOperation_t op_a,
                       cublasOperation_t op_b, int m, int n, int k, const T* alpha,
                       const T* const* a, int lda, const T* const* b, int ldb, const T* beta,
                       T* const* c, int ldc, int count) {
  return call(name, [&] {
    const cublasContext& on = context(handle);
    demand_valid(count >= 0, "a negative number of matrix products");
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(void*);
    demand_on_device(a, bytes, "the array of A");
    demand_on_device(b, bytes, "the array of B");
    demand_on_device(c, bytes, "the array of C");
    for (int i = 0; i < count; ++i) {
      gemm<Wide<T>>(on, op_a, op_b, m, n, k, number(*alpha), at(a[i], kTypeOf<T>, lda, 0, 0),
                    at(b[i], kTypeOf<T>, ldb, 0, 0), number(*beta),
                    at(c[i], kTypeOf<T>, ldc, 0, 0));
    }
  });
}

// alpha or beta, which have the compute type.
double scalar(const void* value, cublasComputeType_t compute) {
  switch (compute) {
  case CUBLAS_COMPUTE_16F:
  case CUBLAS_COMPUTE_16F_PEDANTIC: return to_float(*static_cast<const f16*>(value));
  case CUBLAS_COMPUTE_64F:
  case CUBLAS_COMPUTE_64F_PEDANTIC: return *static_cast<const double*>(value);
  case CUBLAS_COMPUTE_32I:
  case CUBLAS_COMPUTE_32I_PEDANTIC:
    throw Refused(CUBLAS_STATUS_NOT_SUPPORTED, "products of integers do not run on the host");
  default: return static_cast<double>(*static_cast<const float*>(value));
  }
}

} // namespace
} // namespace kg::foreign::blas

using namespace kg::foreign::blas;

#define KG_PRODUCTS(X, T)                                                                          \
  cublasStatus_t cublas##X##gemm(                                                                  \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,  \
      const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {    \
    return strided<T>("cublas" #X "gemm", handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb,   \
                      0, beta, c, ldc, 0, 1);                                                      \
  }                                                                                                \
  cublasStatus_t cublas##X##gemmStridedBatched(                                                    \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,  \
      const T* alpha, const T* a, int lda, long long stride_a, const T* b, int ldb,                \
      long long stride_b, const T* beta, T* c, int ldc, long long stride_c, int count) {           \
    return strided<T>("cublas" #X "gemmStridedBatched", handle, op_a, op_b, m, n, k, alpha, a,     \
                      lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count);             \
  }                                                                                                \
  cublasStatus_t cublas##X##gemmBatched(                                                           \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,  \
      const T* alpha, const T* const a[], int lda, const T* const b[], int ldb, const T* beta,     \
      T* const c[], int ldc, int count) {                                                          \
    return batched<T>("cublas" #X "gemmBatched", handle, op_a, op_b, m, n, k, alpha, a, lda, b,    \
                      ldb, beta, c, ldc, count);                                                   \
  }
KG_PRODUCTS(S, float)
KG_PRODUCTS(D, double)
KG_PRODUCTS(H, __half)

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
  return call("cublasGemmEx", [&] {
    const cublasContext& on = context(handle);
    demand_valid(count >= 0, "a negative number of matrix products");
    const double by = scalar(alpha, compute), plus = scalar(beta, compute);
    for (int i = 0; i < count; ++i) {
      const Matrix first = at(a, type_a, lda, stride_a, i),
                   second = at(b, type_b, ldb, stride_b, i), sum = at(c, type_c, ldc, stride_c, i);
      if (compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC) {
        gemm<double>(on, op_a, op_b, m, n, k, by, first, second, plus, sum);
      } else {
        gemm<float>(on, op_a, op_b, m, n, k, static_cast<float>(by), first, second,
                    static_cast<float>(plus), sum);
      }
    }
  });
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType type_a, int lda, const void* b, cudaDataType type_b,
                            int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b,
                                    type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute, algorithm);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType type_a, int lda, const void* b, cudaDataType type_b,
                            int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cudaDataType compute, cublasGemmAlgo_t algorithm) {
  const auto type = compute == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                    : compute == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                    : compute == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                            : CUBLAS_COMPUTE_32F;
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,
                      type_c, ldc, type, algorithm);
}
