// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm: y[i][j] = x[i][j] rstd_i gamma[j], rstd_i = 1 / sqrt(mean over k of x[i][k]^2 +
// epsilon). Zhang and Sennrich, "Root mean square layer normalization", arXiv 1910.07467.
//
// Problem: row-major matrices, rows `stride[0]` elements apart, computed in f32 and rounded once to
// T. gamma: one T per column, as models store it, or null for ones. rstd: output for the backward
// pass, one f32 per row; null: omitted. y may be x, with the same row stride; other overlap is not
// allowed. Every variant adds in a fixed order: repeated runs are bit-identical.
//
// Special values: a NaN makes its row NaN; an infinity becomes NaN and the rest of its row 0; a row
// of zeros with epsilon 0 is NaN. Other rows are unchanged. A row whose sum of squares exceeds
// f32's range (elements from 2^64 / sqrt(cols) on) is treated as if the sum were infinite: its
// finite elements become 0. Subnormal results are kept. Squares below 2^-149 are lost, which
// matters only if epsilon is 0.
#pragma once

#include "ops/normalization/variants.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstdint>

namespace kg::rmsnorm {

using normalization::chain;
using normalization::kVariants;
using normalization::name;
using normalization::supports;
using normalization::Variant;

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error for: negative extents; different shapes; a row stride below cols; an element stride
// other than 1; an epsilon that is negative or not finite; a variant that does not support cols.
template <class T>
Variant run(MatrixView<const T> x, const T* gamma, float epsilon, MatrixView<T> y, float* rstd,
            Variant variant, Stream& stream);

// One read and one write per element, and gamma; 4 operations per element (square, add, two
// products).
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::rmsnorm
