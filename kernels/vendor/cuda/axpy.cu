// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/axpy.h"

#include "runtime/memory.h"
#include "vendor/cuda/cublas.h"
#include "vendor/cuda/thrust.h"

#include <optional>

#include <thrust/transform.h>

namespace kg::vendor {
namespace cublas {
namespace {

std::optional<cudaDataType> axpy_type(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return CUDA_R_32F;
  case Dtype::f16: return CUDA_R_16F;
  case Dtype::bf16: return CUDA_R_16BF;
  default: return std::nullopt;
  }
}

bool axpy_supported(Dtype dtype) { return axpy_type(dtype).has_value(); }

// In place, after a copy; computes in f32 for every type.
void axpy(Dtype dtype, float alpha, const void* x, const void* y, void* out, std::int64_t n,
          Stream& stream) {
  const cudaDataType type = axpy_type(dtype).value();
  copy_on_device(out, y, static_cast<std::size_t>(n) * size_of(dtype), stream);
  KG_CHECK(cublasAxpyEx_64(handle_on(stream, CUBLAS_DEFAULT_MATH), n, &alpha, CUDA_R_32F, x, type,
                           1, out, type, 1, CUDA_R_32F));
}

} // namespace
} // namespace cublas

namespace thrust_cuda {
namespace {

template <class T>
struct MultiplyAdd {
  float alpha;
  __device__ T operator()(T x, T y) const { return narrow<T>(fmaf(alpha, widen(x), widen(y))); }
};

template <class T>
void axpy(float alpha, const void* x, const void* y, void* out, std::int64_t n, Stream& stream) {
  const T* first = static_cast<const T*>(x);
  thrust::transform(thrust::cuda::par_nosync.on(cuda::native(stream)), first, first + n,
                    static_cast<const T*>(y), static_cast<T*>(out), MultiplyAdd<T>{alpha});
}

bool axpy_supported(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

void axpy(Dtype dtype, float alpha, const void* x, const void* y, void* out, std::int64_t n,
          Stream& stream) {
  translate("transform", [&] {
    if (dtype == Dtype::f32) axpy<float>(alpha, x, y, out, n, stream);
    if (dtype == Dtype::f16) axpy<__half>(alpha, x, y, out, n, stream);
    if (dtype == Dtype::bf16) axpy<__nv_bfloat16>(alpha, x, y, out, n, stream);
  });
}

} // namespace
} // namespace thrust_cuda

std::span<const AxpyVariant> axpy_table() {
  static constexpr AxpyVariant kTable[] = {
      {"thrust", thrust_cuda::axpy_supported, thrust_cuda::axpy},
      {"cublas", cublas::axpy_supported, cublas::axpy},
  };
  return kTable;
}

} // namespace kg::vendor
