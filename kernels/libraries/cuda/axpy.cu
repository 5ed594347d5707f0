// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/axpy.h"

#include "libraries/cuda/cublas.h"
#include "libraries/cuda/thrust.h"
#include "runtime/memory.h"

#include <thrust/transform.h>

namespace kg::vendor {
namespace cublas {
namespace {

bool axpy_supported(Dtype dtype) { return type_of(dtype).has_value(); }

// Copies y to out and runs in place. Computes in f32 for every type.
void axpy(Dtype dtype, float alpha, const void* x, const void* y, void* out, std::int64_t n,
          Stream& stream) {
  const cudaDataType type = type_of(dtype).value();
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

void axpy(Dtype dtype, float alpha, const void* x, const void* y, void* out, std::int64_t n,
          Stream& stream) {
  translate("transform", [&] {
    with_float(dtype, [&](auto element) {
      using T = decltype(element);
      const T* first = static_cast<const T*>(x);
      thrust::transform(on(stream), first, first + n, static_cast<const T*>(y),
                        static_cast<T*>(out), of_copies(MultiplyAdd<T>{alpha}));
    });
  });
}

} // namespace
} // namespace thrust_cuda

const Table<AxpyVariant> axpy_table = {
    {"thrust", thrust_cuda::is_float, thrust_cuda::axpy},
    {"cublas", cublas::axpy_supported, cublas::axpy},
};

} // namespace kg::vendor
