// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/transpose/transpose.h"

#include "vendor/cuda/cublas.h"

namespace kg::vendor {
namespace cublas {
namespace {

// cublasSgeam with beta = 0. Multiplies by 1, so the payload of a NaN is not kept.
//
// The column view of y is rows x cols, that of x its transpose. The second matrix is not read (beta
// = 0) but must be a valid argument; y itself is what cuBLAS documents as the in-place form.
void transpose(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, float* y,
               std::int64_t ldy, Stream& stream) {
  const float one = 1;
  const float zero = 0;
  KG_CHECK(cublasSgeam_64(handle_on(stream, CUBLAS_PEDANTIC_MATH), CUBLAS_OP_T, CUBLAS_OP_N, rows,
                          cols, &one, x, ldx, &zero, y, ldy, y, ldy));
}

} // namespace
} // namespace cublas

namespace {

constexpr TransposeVariant kTable[] = {
    {"cublas", cublas::transpose},
};

} // namespace

std::span<const TransposeVariant> transpose_table() { return kTable; }

} // namespace kg::vendor
