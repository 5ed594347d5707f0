// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// layernorm: y[i][j] = (x[i][j] - mean_i) rstd_i gamma[j] + beta[j], with the mean of row i and
// rstd_i = 1 / sqrt(variance_i + epsilon), the variance over cols, not cols - 1. Ba, Kiros and
// Hinton, "Layer normalization", arXiv 1607.06450.
//
// Problem: row-major matrices, rows `stride[0]` elements apart, computed in f32 and rounded once to
// T. gamma and beta: one T per column, as models store them, or null for ones and zeros. mean and
// rstd: outputs for the backward pass, one f32 per row; null: omitted. y may be x, with the same
// row stride; other overlap is not allowed. Every variant adds in a fixed order: repeated runs are
// bit-identical. The variance uses centred values: a mean far from 0 costs no more accuracy than
// its own rounding.
//
// Special values: a NaN or an infinity makes its row NaN and leaves other rows unchanged. A
// constant row gives beta, or NaN if epsilon is 0 and the mean is exact. A row whose sum exceeds
// f32's range is NaN; if only its centred squares do, it is beta. Subnormal results are kept.
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
// Throws Error for: negative extents; different shapes; a row stride below cols; an element stride
// other than 1; an epsilon that is negative or not finite; a variant that does not support cols.
template <class T>
Variant run(MatrixView<const T> x, const T* gamma, const T* beta, float epsilon, MatrixView<T> y,
            float* mean, float* rstd, Variant variant, Stream& stream);

// One read and one write per element, gamma and beta; 8 operations per element (two sums, two
// differences, a square, two products, the addition of beta).
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::layernorm
