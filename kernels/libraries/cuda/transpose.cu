// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/transpose.h"

#include "libraries/cuda/cublas.h"
#include "libraries/cuda/thrust.h"
#include "libraries/thrust_walks.h"

namespace kg::vendor {
namespace cublas {
namespace {

bool transpose_supported(Dtype dtype) { return dtype == Dtype::f32 || dtype == Dtype::f64; }

// cublasSgeam and cublasDgeam with beta = 0. They multiply by 1, which loses NaN payloads.
//
// The column view of y is rows x cols, that of x its transpose. The second matrix is not read (beta
// = 0) but must be a valid argument. We pass y, as in cuBLAS's documented in-place form.
void transpose(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
               void* y, std::int64_t ldy, Stream& stream) {
  const auto handle = handle_on(stream, CUBLAS_PEDANTIC_MATH);
  if (dtype == Dtype::f32) {
    const float one = 1;
    const float zero = 0;
    auto* to = static_cast<float*>(y);
    KG_CHECK(cublasSgeam_64(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one,
                            static_cast<const float*>(x), ldx, &zero, to, ldy, to, ldy));
  } else {
    const double one = 1;
    const double zero = 0;
    auto* to = static_cast<double*>(y);
    KG_CHECK(cublasDgeam_64(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one,
                            static_cast<const double*>(x), ldx, &zero, to, ldy, to, ldy));
  }
}

} // namespace
} // namespace cublas

namespace thrust_cuda {
namespace {

void transpose(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
               void* y, std::int64_t ldy, Stream& stream) {
  translate("scatter", [&] { walks::transpose(on(stream), dtype, x, rows, cols, ldx, y, ldy); });
}

} // namespace
} // namespace thrust_cuda

const Table<TransposeVariant> transpose_table = {
    {"cublas", cublas::transpose_supported, cublas::transpose},
    {"thrust", always, thrust_cuda::transpose},
};

} // namespace kg::vendor
