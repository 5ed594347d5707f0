// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// layernorm_backward: the gradients of a loss with respect to layernorm's x, gamma and beta, from
// dy, the gradient with respect to its result. With n = (x[i][j] - mean_i) rstd_i and g = dy[i][j]
// gamma[j], means over row i:
//   dx[i][j] = rstd_i (g - mean of g - n (mean of g n))
//   dgamma[j] = sum over i of dy[i][j] n, dbeta[j] = sum over i of dy[i][j]
// (the chain rule on the formula of layernorm.h).
//
// Problem: row-major matrices, rows `stride[0]` elements apart, computed in f32 and rounded once to
// T. mean and rstd: the results of the forward pass, one f32 per row, used unchanged. gamma: one T
// per column, or null for ones. dgamma and dbeta: one T per column each, or null: omitted; without
// rows they are 0. dx may be x or dy, with the same row stride; other overlap is not allowed. Every
// variant adds in a fixed order: repeated runs on one device are bit-identical. The last bits of
// dgamma and dbeta may differ with the number of multiprocessors.
//
// Special values: IEEE 754 as in the formulas. A NaN in dy or x, or one produced by infinities in a
// row's sums, reaches its whole row of dx, and the columns of dgamma and dbeta to which it
// contributes; other rows and columns are unchanged. Subnormal results are kept.
#pragma once

#include "ops/normalization/backward_variants.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>

namespace kg::layernorm_backward {

using normalization::backward::column_chain;
using normalization::backward::kVariants;
using normalization::backward::name;
using normalization::backward::row_chain;
using normalization::backward::supports;
using normalization::backward::Variant;

// Bytes of device workspace that `run` needs for dgamma or dbeta, aligned to 16; may be 0.
std::size_t workspace_bytes(Variant variant, std::int64_t rows, std::int64_t cols);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error for: negative extents; different shapes; a row stride below cols; an element stride
// other than 1; a null mean or rstd; a required workspace that is null or misaligned; a variant
// that does not support cols.
template <class T>
Variant run(MatrixView<const T> dy, MatrixView<const T> x, const T* gamma, const float* mean,
            const float* rstd, MatrixView<T> dx, T* dgamma, T* dbeta, void* workspace,
            Variant variant, Stream& stream);

// Two reads and one write per element, gamma, dgamma, dbeta and the statistics; 13 operations per
// element (2 for n, 1 for g, 3 for the row's sums, 3 for the columns' sums, 4 for dx).
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::layernorm_backward
