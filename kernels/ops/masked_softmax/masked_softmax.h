// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// masked_softmax: the weights of attention. y[i][j] = exp(scale x[i][j] - m_i) / sum over kept k of
// exp(scale x[i][k] - m_i) where element j of row i is kept, m_i the largest scaled element that
// is; 0 where it is masked.
//
// Problem: row-major matrices, rows `stride[0]` elements apart, computed in f32 and rounded once to
// T. y may be x, with the same row stride; other overlap is not allowed. Every variant adds in a
// fixed order: repeated runs are bit-identical.
//
// Special values: what is masked is not looked at, be it NaN. An element that is -inf counts as
// masked. A row of which nothing is kept is 0, as FlashAttention has it (softmax would give NaN). A
// NaN or +inf that is kept, or a scaled element beyond f32's range, makes the whole row NaN; other
// rows do not change. A result of zero is +0. Subnormal results are kept.
#pragma once

#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::masked_softmax {

// boolean: a byte per element, 0 where it is masked. causal: the rows are sequences of `queries`,
// one after the other; row i of a sequence keeps the columns j <= i + cols - queries. The last
// query sees all keys; where there are more queries than keys, the first ones see none.
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

// naive: one thread per row, three passes. warp: one warp per row, the row in registers (cols <=
// kWarpMaxCols). block: one block per row, the row in registers where rows are aligned to 16 bytes
// and have 128 KiB at most, else as f32 in shared memory, and read twice where it does not fit.
enum class Variant { automatic, naive, warp, block };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block};

inline constexpr std::int64_t kWarpMaxCols = 1024;

using kg::name;

// Whether `variant` can do rows of this length.
bool supports(Variant variant, std::int64_t cols);

// What runs where `variant` is asked for: automatic is warp for rows that fit one, else block.
Variant resolved(Variant variant, std::int64_t cols);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error on negative extents, different shapes, a row stride below cols, an element stride
// other than 1, a scale that is not a positive number, queries that do not divide the rows, or a
// variant that does not support cols.
template <class T>
Variant run(float scale, MatrixView<const T> x, const Mask& mask, MatrixView<T> y, Variant variant,
            Stream& stream);

// Longest sequential chain of additions in a row's sum: what the error bound grows with.
std::int64_t chain(Variant variant, std::int64_t cols);

// One read and one write per element, and a byte of the mask, or no read of what a causal mask
// hides; about 5 operations per element that is read (maximum, scale and subtract, exponential,
// add, normalise). `queries` is 0 for a boolean mask.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols, std::int64_t queries);

} // namespace kg::masked_softmax
