// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/vendor.h"

namespace kg::vendor::cublas {

std::string version();

// cublasSgemm. Math::pedantic is CUBLAS_PEDANTIC_MATH, Math::fastest CUBLAS_DEFAULT_MATH, which
// uses no TF32: f32 throughout.
void gemm(const Gemm& problem, Math math, Stream& stream);

// cublasSgeam with beta = 0. Multiplies by 1, so the payload of a NaN is not kept.
void transpose(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, float* y,
               std::int64_t ldy, Stream& stream);

// Rows and columns as products with a vector of ones (cublasSgemv).
bool reduction_supported(SumAxis axis);
void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream);

} // namespace kg::vendor::cublas
