// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// masked_softmax: the weights of attention. y[i][j] = exp(scale x[i][j] - m_i) / sum over kept k of
// exp(scale x[i][k] - m_i) if element j of row i is kept, with m_i the largest kept scaled element;
// 0 if it is masked.
//
// Problem: row-major matrices, rows `stride[0]` elements apart, computed in f32 and rounded once to
// T. y may be x, with the same row stride; other overlap is not allowed. Every variant adds in a
// fixed order: repeated runs are bit-identical.
//
// Special values: masked elements are ignored, even NaN. An element of -inf counts as masked. A row
// without kept elements is 0, as in FlashAttention (softmax would give NaN). A kept NaN or +inf, or
// a scaled element beyond f32's range, makes the whole row NaN. Other rows are unaffected. A result
// of zero is +0. Subnormal results are kept.
#pragma once

#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::masked_softmax {

// boolean: one byte per element, 0 if masked. causal: the rows are consecutive sequences of
// `queries` rows. Row i of a sequence keeps the columns j <= i + cols - queries: the last query
// sees all keys. If there are more queries than keys, the first queries see none.
enum class Form { boolean, causal };
std::string_view name(Form form);

struct Mask {
  Form form = Form::boolean;
  MatrixView<const std::uint8_t> keep = {}; // boolean: of x's shape
  std::int64_t queries = 0;                 // causal: divides x's rows
};
constexpr Mask boolean_mask(MatrixView<const std::uint8_t> keep) {
  return {.form = Form::boolean, .keep = keep};
}
constexpr Mask causal_mask(std::int64_t queries) {
  return {.form = Form::causal, .queries = queries};
}

// naive: one thread per row, three passes. warp: one warp per row, held in registers (cols <=
// kWarpMaxCols). block: one block per row, held in registers if rows are aligned to 16 bytes and
// have at most 128 KiB, otherwise as f32 in shared memory. Rows that do not fit are read twice.
enum class Variant { automatic, naive, warp, block };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block};

inline constexpr std::int64_t kWarpMaxCols = 1024;

using kg::name;

// Whether `variant` supports rows of this length.
bool supports(Variant variant, std::int64_t cols);

// The variant that runs for `variant`: automatic is warp for rows that fit a warp, otherwise block.
Variant resolved(Variant variant, std::int64_t cols);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error on negative extents, different shapes, a row stride below cols, an element stride
// other than 1, a scale that is not a positive number, queries that do not divide the rows, or a
// variant that does not support cols.
template <class T>
Variant run(float scale, MatrixView<const T> x, const Mask& mask, MatrixView<T> y, Variant variant,
            Stream& stream);

// The longest sequential chain of additions in a row's sum, with which the error bound grows.
std::int64_t chain(Variant variant, std::int64_t cols);

// One read and one write per element, and a byte of a boolean mask; elements hidden by a causal
// mask are not read. About 5 operations per element read (maximum, scale and subtract, exponential,
// add, normalize). `queries` is 0 for a boolean mask.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols, std::int64_t queries);

} // namespace kg::masked_softmax
