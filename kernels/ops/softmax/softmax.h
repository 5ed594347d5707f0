// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax: y[i][j] = exp(x[i][j] - m_i) / sum over k of exp(x[i][k] - m_i), with m_i the largest
// element of row i. log_softmax: y[i][j] = (x[i][j] - m_i) - log of that sum.
//
// Problem: row-major matrices, rows `stride[0]` elements apart, computed in f32 and rounded once to
// T. y may be x, with the same row stride; other overlap is not allowed. Every variant adds in a
// fixed order: repeated runs are bit-identical.
//
// Special values: a NaN or +inf in a row makes the whole row NaN; -inf gives 0 (log: -inf); a row
// of nothing but -inf is NaN; other rows do not change. A result of zero is +0. Subnormal results
// are kept. A logarithm below the smallest number of T is -inf.
#pragma once

#include "ops/softmax/kind.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::softmax {

// naive: one thread per row, three passes. warp: one warp per row, the row in registers (cols <=
// kWarpMaxCols), one read and one write per element. block: one block per row, the row in registers
// where rows are aligned to 16 bytes and have 64 KiB at most, in shared memory, a cluster's where a
// block's does not suffice, where they are longer and whole multiples of 16 bytes, or not aligned
// and fit one block's as f32; else read again.
enum class Variant { automatic, naive, warp, block };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block};

inline constexpr std::int64_t kWarpMaxCols = 1024;

using kg::name;

// Whether `variant` can do rows of this length here.
bool supports(Variant variant, std::int64_t cols);

// What runs where `variant` is asked for.
Variant resolved(Variant variant, std::int64_t cols);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error on negative extents, different shapes, a row stride below cols, an element stride
// other than 1, or a variant that does not support cols.
template <class T>
Variant run(Kind kind, MatrixView<const T> x, MatrixView<T> y, Variant variant, Stream& stream);

// Longest sequential chain of additions in a row's sum: what the error bound grows with. Of either
// kind.
std::int64_t chain(Variant variant, std::int64_t cols);

// One read and one write per element; about 4 operations (maximum, subtract and exponential, add,
// scale).
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::softmax
