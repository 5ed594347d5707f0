// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// layernorm: y[i][j] = (x[i][j] - mean_i) rstd_i gamma[j] + beta[j], mean_i that of row i and
// rstd_i = 1 / sqrt(variance_i + epsilon), the variance over cols, not cols - 1. Ba, Kiros and
// Hinton, "Layer normalization", arXiv 1607.06450.
//
// Problem: row-major matrices, rows `stride[0]` elements apart, computed in f32 and rounded once to
// T. gamma and beta: one T per column, as models store them, or null for ones and zeros. mean and
// rstd: where to put the rows' statistics, which the backward pass needs, one f32 per row; null:
// not wanted. y may be x, with the same row stride; other overlap is not allowed. Every variant
// adds in a fixed order: repeated runs are bit-identical. The variance is that of centred values:
// a mean far from 0 costs no more accuracy than the rounding of the mean.
//
// Special values: a NaN or an infinity makes its row NaN; a constant row gives beta, and NaN if
// epsilon is 0 and the mean is exact; other rows do not change. A row whose sum exceeds f32's range
// is NaN; one whose centred squares do gives beta. Subnormal results are kept.
#pragma once

#include "ops/normalization/variants.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstdint>

namespace kg::layernorm {

using normalization::chain;
using normalization::kVariants;
using normalization::name;
using normalization::supports;
using normalization::Variant;

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error on negative extents, different shapes, a row stride below cols, an element stride
// other than 1, an epsilon that is negative or not finite, or a variant that does not support cols.
template <class T>
Variant run(MatrixView<const T> x, const T* gamma, const T* beta, float epsilon, MatrixView<T> y,
            float* mean, float* rstd, Variant variant, Stream& stream);

// One read and one write per element, gamma and beta; 8 operations per element (two sums, two
// differences, square, two products, the sum with beta).
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::layernorm
