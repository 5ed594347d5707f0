// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Vector operations, matrix-vector operations, and copies between host and device.
#include "cuda/source/blas/handle.h"

#include <cblas.h>

namespace kg::foreign::blas {
namespace {

CBLAS_TRANSPOSE transposed(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}

// cuBLAS does nothing for a negative n, which cblas does not accept.
std::size_t span_bytes(std::size_t element_bytes, int n, int increment) {
  if (n <= 0) return 0;
  return (static_cast<std::size_t>(std::abs(increment)) * static_cast<std::size_t>(n - 1) + 1) *
         element_bytes;
}

// The pointer mode decides whether a result goes to the host or to the device.
void demand_result(const cublasContext& context, const void* result, std::size_t bytes) {
  demand_valid(result != nullptr, "the pointer to the result is null");
  if (context.pointers == CUBLAS_POINTER_MODE_DEVICE) demand_on_device(result, bytes, "the result");
}

cublasStatus_t copy_elements(const char* name, int n, int bytes, const void* from, int from_step,
                             void* to, int to_step, cudaMemcpyKind kind) {
  return call(name, [&] {
    demand_valid(n >= 0 && bytes > 0 && from_step > 0 && to_step > 0,
                 "a size or an increment that is not positive");
    const auto width = static_cast<std::size_t>(bytes);
    const cudaError_t error = cudaMemcpy2D(to, width * static_cast<std::size_t>(to_step), from,
                                           width * static_cast<std::size_t>(from_step), width,
                                           static_cast<std::size_t>(n), kind);
    if (error != cudaSuccess)
      throw Refused(CUBLAS_STATUS_MAPPING_ERROR, cudaGetErrorString(cudaGetLastError()));
  });
}

cublasStatus_t copy_matrix(const char* name, int rows, int columns, int bytes, const void* from,
                           int from_ld, void* to, int to_ld, cudaMemcpyKind kind) {
  return call(name, [&] {
    demand_valid(rows >= 0 && columns >= 0 && bytes > 0 && from_ld >= rows && to_ld >= rows,
                 "a size that is not positive, or a leading dimension below the number of rows");
    const auto element = static_cast<std::size_t>(bytes);
    const cudaError_t error = cudaMemcpy2D(to, element * static_cast<std::size_t>(to_ld), from,
                                           element * static_cast<std::size_t>(from_ld),
                                           element * static_cast<std::size_t>(rows),
                                           static_cast<std::size_t>(columns), kind);
    if (error != cudaSuccess)
      throw Refused(CUBLAS_STATUS_MAPPING_ERROR, cudaGetErrorString(cudaGetLastError()));
  });
}

// C = alpha op(A) + beta op(B). A matrix that is scaled by zero is not read.
template <class T>
cublasStatus_t add_matrices(const char* name, cublasHandle_t handle, cublasOperation_t op_a,
                            cublasOperation_t op_b, int m, int n, T alpha, const T* a, int lda,
                            T beta, const T* b, int ldb, T* c, int ldc) {
  return call(name, [&] {
    const cublasContext& on = context(handle);
    demand_matrix(c, sizeof(T), m, n, ldc, "C");
    const auto demand_operand = [&](T factor, const T* data, cublasOperation_t op, int ld,
                                    const char* which) {
      if (factor == 0) return;
      const bool turned = op != CUBLAS_OP_N;
      demand_matrix(data, sizeof(T), turned ? n : m, turned ? m : n, ld, which);
    };
    demand_operand(alpha, a, op_a, lda, "A");
    demand_operand(beta, b, op_b, ldb, "B");
    enqueue(on, [=] {
      const auto element = [](const T* data, cublasOperation_t op, int ld, int i, int j) {
        return op == CUBLAS_OP_N ? data[i + static_cast<std::ptrdiff_t>(j) * ld]
                                 : data[j + static_cast<std::ptrdiff_t>(i) * ld];
      };
      for (int j = 0; j < n; ++j) {
        T* const column = c + static_cast<std::ptrdiff_t>(j) * ldc;
        for (int i = 0; i < m; ++i) {
          column[i] = (alpha != 0 ? alpha * element(a, op_a, lda, i, j) : T{0}) +
                      (beta != 0 ? beta * element(b, op_b, ldb, i, j) : T{0});
        }
        note_written(column, static_cast<std::size_t>(m) * sizeof(T));
      }
    });
  });
}

} // namespace
} // namespace kg::foreign::blas

using kg::foreign::note_written;
using namespace kg::foreign::blas;

// Each function exists for float (S, cblas_s...) and for double (D, cblas_d...).
#define KG_VECTORS(X, x, T)                                                                        \
  cublasStatus_t cublas##X##axpy(cublasHandle_t handle, int n, const T* alpha, const T* v,         \
                                 int incv, T* w, int incw) {                                       \
    return call("cublas" #X "axpy", [=] {                                                          \
      const cublasContext& on = context(handle);                                                   \
      demand_vector(v, sizeof(T), n, incv, "x");                                                   \
      demand_vector(w, sizeof(T), n, incw, "y");                                                   \
      const T by = *alpha;                                                                         \
      enqueue(on, [=] {                                                                            \
        cblas_##x##axpy(n, by, v, incv, w, incw);                                                  \
        note_written(w, span_bytes(sizeof(T), n, incw));                                           \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##X##copy(cublasHandle_t handle, int n, const T* v, int incv, T* w,         \
                                 int incw) {                                                       \
    return call("cublas" #X "copy", [=] {                                                          \
      const cublasContext& on = context(handle);                                                   \
      demand_vector(v, sizeof(T), n, incv, "x");                                                   \
      demand_vector(w, sizeof(T), n, incw, "y");                                                   \
      enqueue(on, [=] {                                                                            \
        cblas_##x##copy(n, v, incv, w, incw);                                                      \
        note_written(w, span_bytes(sizeof(T), n, incw));                                           \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##X##swap(cublasHandle_t handle, int n, T* v, int incv, T* w, int incw) {   \
    return call("cublas" #X "swap", [=] {                                                          \
      const cublasContext& on = context(handle);                                                   \
      demand_vector(v, sizeof(T), n, incv, "x");                                                   \
      demand_vector(w, sizeof(T), n, incw, "y");                                                   \
      enqueue(on, [=] {                                                                            \
        cblas_##x##swap(n, v, incv, w, incw);                                                      \
        note_written(v, span_bytes(sizeof(T), n, incv));                                           \
        note_written(w, span_bytes(sizeof(T), n, incw));                                           \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##X##scal(cublasHandle_t handle, int n, const T* alpha, T* v, int incv) {   \
    return call("cublas" #X "scal", [=] {                                                          \
      const cublasContext& on = context(handle);                                                   \
      demand_vector(v, sizeof(T), n, incv, "x");                                                   \
      const T by = *alpha;                                                                         \
      enqueue(on, [=] {                                                                            \
        cblas_##x##scal(n, by, v, incv);                                                           \
        note_written(v, span_bytes(sizeof(T), n, incv));                                           \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##X##dot(cublasHandle_t handle, int n, const T* v, int incv, const T* w,    \
                                int incw, T* result) {                                             \
    return call("cublas" #X "dot", [=] {                                                           \
      const cublasContext& on = context(handle);                                                   \
      demand_vector(v, sizeof(T), n, incv, "x");                                                   \
      demand_vector(w, sizeof(T), n, incw, "y");                                                   \
      demand_result(on, result, sizeof(T));                                                        \
      enqueue(on, [=] {                                                                            \
        *result = cblas_##x##dot(n, v, incv, w, incw);                                             \
        note_written(result, sizeof(T));                                                           \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##X##nrm2(cublasHandle_t handle, int n, const T* v, int incv, T* result) {  \
    return call("cublas" #X "nrm2", [=] {                                                          \
      const cublasContext& on = context(handle);                                                   \
      demand_vector(v, sizeof(T), n, incv, "x");                                                   \
      demand_result(on, result, sizeof(T));                                                        \
      enqueue(on, [=] {                                                                            \
        *result = cblas_##x##nrm2(n, v, incv);                                                     \
        note_written(result, sizeof(T));                                                           \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##X##asum(cublasHandle_t handle, int n, const T* v, int incv, T* result) {  \
    return call("cublas" #X "asum", [=] {                                                          \
      const cublasContext& on = context(handle);                                                   \
      demand_vector(v, sizeof(T), n, incv, "x");                                                   \
      demand_result(on, result, sizeof(T));                                                        \
      enqueue(on, [=] {                                                                            \
        *result = cblas_##x##asum(n, v, incv);                                                     \
        note_written(result, sizeof(T));                                                           \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublasI##x##amax(cublasHandle_t handle, int n, const T* v, int incv,              \
                                  int* result) {                                                   \
    return call("cublasI" #x "amax", [=] {                                                         \
      const cublasContext& on = context(handle);                                                   \
      demand_vector(v, sizeof(T), n, incv, "x");                                                   \
      demand_result(on, result, sizeof(int));                                                      \
      enqueue(on, [=] { /* counted from 1 */                                                       \
                        *result = n > 0 ? static_cast<int>(cblas_i##x##amax(n, v, incv)) + 1 : 0;  \
                        note_written(result, sizeof(int));                                         \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##X##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n,        \
                                 const T* alpha, const T* a, int lda, const T* v, int incv,        \
                                 const T* beta, T* w, int incw) {                                  \
    return call("cublas" #X "gemv", [=] {                                                          \
      const cublasContext& on = context(handle);                                                   \
      const T by = *alpha, plus = *beta;                                                           \
      const int length = op == CUBLAS_OP_N ? m : n;                                                \
      if (by != 0) demand_matrix(a, sizeof(T), m, n, lda, "A");                                    \
      if (by != 0) demand_vector(v, sizeof(T), op == CUBLAS_OP_N ? n : m, incv, "x");              \
      demand_vector(w, sizeof(T), length, incw, "y");                                              \
      enqueue(on, [=] {                                                                            \
        cblas_##x##gemv(CblasColMajor, transposed(op), m, n, by, a, lda, v, incv, plus, w, incw);  \
        note_written(w, span_bytes(sizeof(T), length, incw));                                      \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##X##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* v,   \
                                int incv, const T* w, int incw, T* a, int lda) {                   \
    return call("cublas" #X "ger", [=] {                                                           \
      const cublasContext& on = context(handle);                                                   \
      demand_vector(v, sizeof(T), m, incv, "x");                                                   \
      demand_vector(w, sizeof(T), n, incw, "y");                                                   \
      demand_matrix(a, sizeof(T), m, n, lda, "A");                                                 \
      const T by = *alpha;                                                                         \
      enqueue(on, [=] {                                                                            \
        cblas_##x##ger(CblasColMajor, m, n, by, v, incv, w, incw, a, lda);                         \
        for (int j = 0; j < n; ++j)                                                                \
          note_written(a + static_cast<std::ptrdiff_t>(j) * lda, span_bytes(sizeof(T), m, 1));     \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##X##geam(cublasHandle_t handle, cublasOperation_t op_a,                    \
                                 cublasOperation_t op_b, int m, int n, const T* alpha, const T* a, \
                                 int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {     \
    return add_matrices<T>("cublas" #X "geam", handle, op_a, op_b, m, n, *alpha, a, lda, *beta, b, \
                           ldb, c, ldc);                                                           \
  }
KG_VECTORS(S, s, float)
KG_VECTORS(D, d, double)

cublasStatus_t cublasSetVector(int n, int element_bytes, const void* x, int incx, void* y,
                               int incy) {
  return copy_elements("cublasSetVector", n, element_bytes, x, incx, y, incy,
                       cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetVector(int n, int element_bytes, const void* x, int incx, void* y,
                               int incy) {
  return copy_elements("cublasGetVector", n, element_bytes, x, incx, y, incy,
                       cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_bytes, const void* a, int lda,
                               void* b, int ldb) {
  return copy_matrix("cublasSetMatrix", rows, columns, element_bytes, a, lda, b, ldb,
                     cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_bytes, const void* a, int lda,
                               void* b, int ldb) {
  return copy_matrix("cublasGetMatrix", rows, columns, element_bytes, a, lda, b, ldb,
                     cudaMemcpyDeviceToHost);
}
