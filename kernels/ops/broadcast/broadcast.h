// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// broadcast: out = a (op) b for tensors of different shapes, after NumPy's rule: shapes are aligned
// at their last axes, missing axes count as 1, and an extent of 1 is repeated to match the other.
// Bias [c] on [n, c], channels [1, c, 1, 1] on [n, c, h, w], a scalar [], an outer product [n, 1]
// by [m], and everything between.
//
// Problem: packed row-major tensors of rank 0 to 5. Layout: any alignment of T itself; out may be
// an operand of out's own shape, other overlap is not allowed. Each result is the correctly rounded
// one of the element type; special values and the reasoning for f16 and bf16 as in `elementwise`
// (IEEE 754 throughout). Repeated runs are bit-identical.
//
// Backward: the gradient of an operand that was broadcast is the gradient of the full-sized result
// (`elementwise_backward`) summed over the axes along which it was repeated (`reduction`).
#pragma once

#include "ops/elementwise/op.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::broadcast {

using elementwise::kOps;
using elementwise::Op;

inline constexpr int kMaxRank = 5;
using Shape = std::span<const std::int64_t>; // extents, outermost first; {} is a scalar

// naive: one element per thread, its coordinates by divisions. vectorized: 16-byte accesses to
// whatever is contiguous along the innermost axis, where neighbouring axes that both operands walk
// alike count as one; a repeated element is read once per pack.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// The shape of out. Throws Error where the shapes do not match, a rank is above kMaxRank or an
// extent is negative.
std::vector<std::int64_t> result_shape(Shape a, Shape b);

// Enqueues the operation and returns the variant that runs; a result without elements launches
// nothing. T: float, f16, bf16. Throws Error where result_shape does, on a null pointer, and where
// out overlaps an operand other than as said above.
template <class T>
Variant run(Op op, const T* a, Shape a_shape, const T* b, Shape b_shape, T* out, Variant variant,
            Stream& stream);

// Each element of a and b read once and each of out written once; one operation per result.
Work work(Dtype dtype, Shape a, Shape b);

} // namespace kg::broadcast
