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
// of only -inf is NaN. Other rows are unaffected. A result of zero is +0. Subnormal results are
// kept. A logarithm below the range of T is -inf.
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

// naive: one thread per row, three passes. warp: one warp per row, held in registers (cols <=
// kWarpMaxCols), one read and one write per element. block: one block per row. Rows aligned to 16
// bytes are held in registers up to 64 KiB. Longer rows of whole 16-byte packs are held in the
// shared memory of a block or a cluster. Unaligned rows are held in a block's shared memory as f32,
// if they fit. All other rows are read twice.
enum class Variant { automatic, naive, warp, block };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block};

inline constexpr std::int64_t kWarpMaxCols = 1024;

using kg::name;

// Whether `variant` supports rows of this length on this device.
bool supports(Variant variant, std::int64_t cols);

// The variant that runs for `variant`.
Variant resolved(Variant variant, std::int64_t cols);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error on negative extents, different shapes, a row stride below cols, an element stride
// other than 1, or a variant that does not support cols.
template <class T>
Variant run(Kind kind, MatrixView<const T> x, MatrixView<T> y, Variant variant, Stream& stream);

// The longest sequential chain of additions in a row's sum, with which the error bound grows. The
// same for both kinds.
std::int64_t chain(Variant variant, std::int64_t cols);

// One read and one write per element; about 4 operations (maximum, subtract and exponential, add,
// scale).
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::softmax
