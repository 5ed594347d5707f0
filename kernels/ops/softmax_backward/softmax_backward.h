// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax_backward: the gradient of a loss with respect to a softmax's inputs, from the softmax's
// results y and the gradient dy with respect to y: dx[i][j] = y[i][j] (dy[i][j] - sum over k of
// y[i][k] dy[i][k]). For log-softmax: dx[i][j] = dy[i][j] - exp(y[i][j]) (sum over k of dy[i][k]).
//
// Problem: row-major matrices, rows `stride[0]` elements apart, computed in f32 and rounded once to
// T. dx may be y or dy, with the same row stride; other overlap is not allowed. y is used as given:
// rows need not sum to 1. Every variant adds in a fixed order: repeated runs are bit-identical.
//
// Special values: IEEE 754, as in the formula. A NaN in a row of y or dy makes the whole row NaN;
// an infinity that reaches the sum leaves infinities and NaN in its row. Other rows are unaffected.
// For log-softmax, y = -inf, a probability of 0, gives dx = dy while the sum is finite. Subnormal
// results are kept.
#pragma once

#include "ops/softmax/kind.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::softmax_backward {

using softmax::Kind;

// naive: one thread per row, two passes. warp: one warp per row, held in registers (cols <=
// kWarpMaxCols). block: one block per row, held in shared memory if it fits, otherwise read twice.
// cluster: a cluster of 2 to 8 blocks per row, which hold y and as much of dy as fits in shared
// memory. It takes rows of kClusterMinCols to about 400,000 columns on devices with clusters;
// `automatic` uses it from kAutomaticClusterCols on.
enum class Variant { automatic, naive, warp, block, cluster };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block,
                                        Variant::cluster};

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
Variant run(Kind kind, MatrixView<const T> y, MatrixView<const T> dy, MatrixView<T> dx,
            Variant variant, Stream& stream);

// The longest sequential chain of additions in a row's sum, with which the error bound grows.
std::int64_t chain(Variant variant, std::int64_t cols);

// Two reads and one write per element; 4 operations: for the sum a product and an addition, or for
// log-softmax an addition and the exponential; a subtraction and a product.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::softmax_backward
