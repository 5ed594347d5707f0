// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// residual_rmsnorm: z = x + residual and y[i][j] = z[i][j] rstd_i gamma[j], rstd_i = 1 / sqrt(mean
// over k of z[i][k]^2 + epsilon), in one pass, as before each block of a transformer. z is the
// residual of the next block.
//
// Problem: row-major matrices, rows `stride[0]` elements apart. The sum is rounded once to T before
// normalization, so that z and y equal those of an addition followed by rmsnorm, bit for bit.
// gamma, rstd, arithmetic and order of summation: as in ops/rmsnorm/rmsnorm.h. z and y may each be
// x or residual, with the same row stride, but z and y must differ; other overlap is not allowed.
// Every variant adds in a fixed order: repeated runs are bit-identical.
//
// Special values: first those of the addition (opposite infinities give NaN, a sum beyond T's range
// an infinity), then those of rmsnorm on z.
#pragma once

#include "ops/normalization/variants.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstdint>

namespace kg::residual_rmsnorm {

using normalization::chain;
using normalization::kVariants;
using normalization::name;
using normalization::supports;
using normalization::Variant;

// The matrix arguments, all of one shape.
template <class T>
struct Matrices {
  MatrixView<const T> x;
  MatrixView<const T> residual;
  MatrixView<T> z;
  MatrixView<T> y;
};

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error for: negative extents; different shapes; a row stride below cols; an element stride
// other than 1; z and y at the same address; an epsilon that is negative or not finite; a variant
// that does not support cols.
template <class T>
Variant run(const Matrices<T>& matrices, const T* gamma, float epsilon, float* rstd,
            Variant variant, Stream& stream);

// Two reads and two writes per element, and gamma; 5 operations per element (sum, square, add, two
// products).
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::residual_rmsnorm
