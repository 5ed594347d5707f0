// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm_backward: the gradients of a loss with respect to rmsnorm's x and gamma, from dy, the
// gradient with respect to y. With n = x[i][j] rstd_i, g = dy[i][j] gamma[j], mean over row i:
//   dx[i][j] = rstd_i (g - n (mean of g n)), dgamma[j] = sum over i of dy[i][j] n
// (the chain rule on the formula of rmsnorm.h).
//
// Problem: row-major matrices, rows `stride[0]` elements apart, computed in f32 and rounded once to
// T. rstd: the forward pass's, one f32 per row, used unchanged. gamma: one T per column, or null
// for ones. dgamma: one T per column, or null: omitted; without rows it is 0. dx may be x or dy,
// with the same row stride; other overlap is not allowed. Every variant adds in a fixed order:
// repeated runs on one device are bit-identical. The number of multiprocessors may change dgamma's
// last bits.
//
// Special values: IEEE 754 as in the formulas. A NaN in dy or x, or one produced by infinities in a
// row's sum, reaches its whole row of dx, and the columns of dgamma to which it contributes; other
// rows and columns are unchanged. Subnormal results are kept.
#pragma once

#include "ops/normalization/backward_variants.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>

namespace kg::rmsnorm_backward {

using normalization::backward::column_chain;
using normalization::backward::kVariants;
using normalization::backward::name;
using normalization::backward::row_chain;
using normalization::backward::supports;
using normalization::backward::Variant;

// Bytes of device workspace that `run` needs for dgamma, aligned to 16; may be 0.
std::size_t workspace_bytes(Variant variant, std::int64_t rows, std::int64_t cols);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error for: negative extents; different shapes; a row stride below cols; an element stride
// other than 1; a null rstd; a required workspace that is null or misaligned; a variant that does
// not support cols.
template <class T>
Variant run(MatrixView<const T> dy, MatrixView<const T> x, const T* gamma, const float* rstd,
            MatrixView<T> dx, T* dgamma, void* workspace, Variant variant, Stream& stream);

// Two reads and one write per element, gamma, dgamma and rstd; 9 operations per element (1 for n, 1
// for g, 2 for the row's sum, 2 for the column's sum, 3 for dx).
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::rmsnorm_backward
