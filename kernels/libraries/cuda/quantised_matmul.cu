// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt multiplies e4m3 matrices, with a scale per row of both, in one call, if it has an
// algorithm for that. For integers it returns 32-bit sums, which Thrust scales.
#include "libraries/quantised_matmul.h"

#include "libraries/cuda/cublaslt.h"
#include "libraries/cuda/thrust.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#include <bit>
#include <optional>
#include <utility>

namespace kg::vendor {
namespace cublaslt {
namespace {

bool quantised_supported(Dtype dtype, bool) { return cublas::type_of(dtype).has_value(); }

// In the column view Y is n x m: rows of W times rows of X. Integer products have integer scalars.
Product quantised_product(const QuantisedProduct& p) {
  const cudaDataType type = p.integers ? CUDA_R_8I : CUDA_R_8F_E4M3;
  Operation operation =
      p.integers ? Operation(CUBLAS_COMPUTE_32I, CUDA_R_32I) : Operation(CUBLAS_COMPUTE_32F);
  operation.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  operation.set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  if (!p.integers) {
    operation.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
    operation.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
    operation.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, p.w_scale);
    operation.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, p.x_scale);
  }
  const Batch one{1, 0};
  const float alpha = p.integers ? std::bit_cast<float>(1) : 1.0F;
  void* const to = p.integers ? p.sums : p.y;
  return Product(
      std::move(operation),
      {alpha, p.w, Layout(type, p.k, p.n, p.k, one), p.x, Layout(type, p.k, p.m, p.k, one), 0.0F,
       to, Layout(p.integers ? CUDA_R_32I : cublas::type_of(p.dtype).value(), p.n, p.m, p.n, one)});
}

template <class T>
struct Scale {
  const std::int32_t* sums;
  const float *x_scale, *w_scale;
  std::int64_t n;
  T* y;

  __device__ void operator()(std::int64_t i) const {
    y[i] = static_cast<T>(static_cast<float>(sums[i]) * x_scale[i / n] * w_scale[i % n]);
  }
};

template <class T>
void scale(const QuantisedProduct& p, Stream& stream) {
  thrust::for_each_n(thrust_cuda::on(stream), thrust::make_counting_iterator(std::int64_t{0}),
                     p.m * p.n, Scale<T>{p.sums, p.x_scale, p.w_scale, p.n, static_cast<T*>(p.y)});
}

struct KeptQuantised {
  QuantisedProduct problem;
  Product product;
};

// Keeps the Product of the last problem.
void quantised_matmul(const QuantisedProduct& p, Math math, Stream& stream) {
  thread_local std::optional<KeptQuantised> last;
  if (!last || last->problem != p) {
    last.reset(); // keeps nothing if cuBLASLt refuses the problem
    last.emplace(KeptQuantised{p, quantised_product(p)});
  }
  last->product.multiply(math, stream);
  if (!p.integers) return;
  thrust_cuda::with_float(p.dtype, [&](auto y) { scale<decltype(y)>(p, stream); });
}

} // namespace
} // namespace cublaslt

const Table<QuantisedVariant> quantised_matmul_table = {
    {"cublaslt", cublaslt::quantised_supported, cublaslt::quantised_matmul}};

} // namespace kg::vendor
