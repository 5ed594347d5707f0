// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS stores by columns. A row-major matrix read that way is its transpose, with the same
// leading dimension; the comments below call it the column view.
#include "vendor/cuda/cublas.h"

#include "runtime/buffer.h"
#include "runtime/cuda/native.h"

#include <cublas_v2.h>

#include <algorithm>
#include <vector>

// In the namespace of cublasStatus_t, where KG_CHECK finds it from everywhere.
static kg::Status describe(cublasStatus_t status) {
  return {status == CUBLAS_STATUS_SUCCESS, std::string(cublasGetStatusName(status)) + ": " +
                                               cublasGetStatusString(status) + " (" +
                                               std::to_string(static_cast<int>(status)) + ")"};
}

namespace kg::vendor::cublas {
namespace {

class Handle {
 public:
  Handle() { KG_CHECK(cublasCreate(&handle_)); }
  ~Handle() { cublasDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

// One handle per thread, as cuBLAS advises: handles are not to be shared between threads that set
// their stream or mode.
cublasHandle_t handle_on(Stream& stream, cublasMath_t mode) {
  thread_local const Handle handle;
  KG_CHECK(cublasSetStream(handle.get(), cuda::native(stream)));
  KG_CHECK(cublasSetMathMode(handle.get(), mode));
  return handle.get();
}

cublasOperation_t transposition(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

// A vector of n ones, kept per thread, and like scratch memory never freed before the thread ends.
const float* ones(std::int64_t n, Stream& stream) {
  thread_local std::vector<DeviceBuffer<float>> buffers;
  const auto wanted = static_cast<std::size_t>(n);
  if (buffers.empty() || buffers.back().size() < wanted) {
    const std::size_t doubled = buffers.empty() ? 0 : 2 * buffers.back().size();
    const std::vector<float> values(std::max(wanted, doubled), 1.0F);
    buffers.push_back(DeviceBuffer<float>::from_host(values, stream));
    stream.synchronize(); // another stream of this thread may be the next to read them
  }
  return buffers.back().data();
}

} // namespace

// cublasGetVersion wants a handle and so a device; the properties do not.
std::string version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  KG_CHECK(cublasGetProperty(MAJOR_VERSION, &major));
  KG_CHECK(cublasGetProperty(MINOR_VERSION, &minor));
  KG_CHECK(cublasGetProperty(PATCH_LEVEL, &patch));
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// The column view of C = op(A) op(B) is op(B)' op(A)': B first, sizes n x m, and each operand's
// view is transposed already, so the transpositions stay with their matrices.
void gemm(const Gemm& problem, Math math, Stream& stream) {
  const auto mode = math == Math::pedantic ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH;
  KG_CHECK(cublasSgemm_64(handle_on(stream, mode), transposition(problem.transpose_b),
                          transposition(problem.transpose_a), problem.n, problem.m, problem.k,
                          &problem.alpha, problem.b, problem.ldb, problem.a, problem.lda,
                          &problem.beta, problem.c, problem.ldc));
}

// The column view of y is rows x cols, that of x its transpose. The second matrix is not read (beta
// = 0) but must be a valid argument; y itself is what cuBLAS documents as the in-place form.
void transpose(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, float* y,
               std::int64_t ldy, Stream& stream) {
  const float one = 1;
  const float zero = 0;
  KG_CHECK(cublasSgeam_64(handle_on(stream, CUBLAS_PEDANTIC_MATH), CUBLAS_OP_T, CUBLAS_OP_N, rows,
                          cols, &one, x, ldx, &zero, y, ldy, y, ldy));
}

bool reduction_supported(SumAxis axis) { return axis != SumAxis::all; }

// The column view of x is cols x rows: its row sums are our column sums.
void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream) {
  const float one = 1;
  const float zero = 0;
  const bool columns = axis == SumAxis::columns;
  const float* vector = ones(columns ? rows : cols, stream);
  KG_CHECK(cublasSgemv_64(handle_on(stream, CUBLAS_PEDANTIC_MATH),
                          columns ? CUBLAS_OP_N : CUBLAS_OP_T, cols, rows, &one, x, cols, vector, 1,
                          &zero, out, 1));
}

} // namespace kg::vendor::cublas
