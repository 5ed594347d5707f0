// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/copy.h"

#include "libraries/cuda/cublas.h"
#include "libraries/cuda/thrust.h"
#include "libraries/thrust_walks.h"
#include "primitives/words.h"

#include <thrust/transform.h>

namespace kg::vendor {
namespace cuda_runtime {
namespace {

// The driver's copies. The 2D copy limits the pitch to 2^31 - 1 bytes, which a single long row
// could exceed.
void copy(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
          void* y, std::int64_t ldy, Stream& stream) {
  const auto bytes = [dtype](std::int64_t n) {
    return static_cast<std::size_t>(n) * size_of(dtype);
  };
  if (rows == 1 || (ldx == cols && ldy == cols))
    KG_CHECK(
        cudaMemcpyAsync(y, x, bytes(rows * cols), cudaMemcpyDeviceToDevice, cuda::native(stream)));
  else
    KG_CHECK(cudaMemcpy2DAsync(y, bytes(ldy), x, bytes(ldx), bytes(cols),
                               static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice,
                               cuda::native(stream)));
}

} // namespace
} // namespace cuda_runtime

namespace cublas {
namespace {

bool copy_supported(Dtype dtype, bool packed) {
  return packed && (dtype == Dtype::f32 || dtype == Dtype::f64);
}

void copy(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t, void* y,
          std::int64_t, Stream& stream) {
  const auto handle = handle_on(stream, CUBLAS_PEDANTIC_MATH);
  if (dtype == Dtype::f32)
    KG_CHECK(cublasScopy_64(handle, rows * cols, static_cast<const float*>(x), 1,
                            static_cast<float*>(y), 1));
  else
    KG_CHECK(cublasDcopy_64(handle, rows * cols, static_cast<const double*>(x), 1,
                            static_cast<double*>(y), 1));
}

} // namespace
} // namespace cublas

namespace thrust_cuda {
namespace {

struct Same {
  template <class Word>
  __device__ Word operator()(Word word) const {
    return word;
  }
};

// A transform, since thrust::copy between plain pointers is cudaMemcpyAsync.
template <class Word>
void copy(const Word* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, Word* y,
          std::int64_t ldy, Stream& stream) {
  const auto policy = on(stream);
  if (ldx == cols && ldy == cols) {
    thrust::transform(policy, x, x + rows * cols, y, of_copies(Same()));
    return;
  }
  const auto from = walks::elements(x, walks::AlongRows{cols, ldx});
  const auto to = walks::elements(y, walks::AlongRows{cols, ldy});
  thrust::transform(policy, from, from + rows * cols, to, Same());
}

void copy(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
          void* y, std::int64_t ldy, Stream& stream) {
  translate("copy", [&] {
    with_word("kg::vendor::copy", size_of(dtype), [&](auto word) {
      copy(static_cast<const decltype(word)*>(x), rows, cols, ldx, static_cast<decltype(word)*>(y),
           ldy, stream);
    });
  });
}

} // namespace
} // namespace thrust_cuda

const Table<CopyVariant> copy_table = {
    {"memcpy", always, cuda_runtime::copy},
    {"cublas", cublas::copy_supported, cublas::copy},
    {"thrust", always, thrust_cuda::copy},
};

} // namespace kg::vendor
