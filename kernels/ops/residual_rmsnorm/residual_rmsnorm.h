// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// residual_rmsnorm: z = x + residual and y[i][j] = z[i][j] rstd_i gamma[j], rstd_i = 1 / sqrt(mean
// over k of z[i][k]^2 + epsilon): what stands before each block of a transformer, in one pass. z is
// the residual of the next block.
//
// Problem: row-major matrices, rows `stride[0]` elements apart. The sum is rounded once to T, and
// that is what is normalised, so that z and y are those of an addition and rmsnorm one after the
// other, bit for bit. gamma, rstd, arithmetic and order of summation: rmsnorm's
// (ops/rmsnorm/rmsnorm.h). z and y may each be x or residual, with the same row stride, but not
// both the same; other overlap is not allowed. Every variant adds in a fixed order: repeated runs
// are bit-identical.
//
// Special values: those of the addition, opposite infinities giving NaN and a sum beyond T's range
// an infinity; then rmsnorm's, of z.
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

// The arguments that are matrices, of one shape.
template <class T>
struct Matrices {
  MatrixView<const T> x;
  MatrixView<const T> residual;
  MatrixView<T> z;
  MatrixView<T> y;
};

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error on negative extents, different shapes, a row stride below cols, an element stride
// other than 1, z and y at one place, an epsilon that is negative or not finite, or a variant that
// does not support cols.
template <class T>
Variant run(const Matrices<T>& matrices, const T* gamma, float epsilon, float* rstd,
            Variant variant, Stream& stream);

// Two reads and two writes per element, and gamma; 5 operations per element (sum, square, add, two
// products).
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::residual_rmsnorm
