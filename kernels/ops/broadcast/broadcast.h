// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// broadcast: out = a (op) b for tensors of different shapes, by NumPy's rule: shapes are aligned at
// their last axes, missing axes count as 1, and an extent of 1 is repeated to match the other.
// Examples: bias [c] on [n, c], channels [1, c, 1, 1] on [n, c, h, w], a scalar [], an outer
// product [n, 1] by [m].
//
// Problem: packed row-major tensors of rank 0 to 5. Layout: pointers need only T's own alignment.
// out may be an operand of the same shape; other overlap is not allowed. Each result is correctly
// rounded to the element type. Special values, and the reasoning for f16 and bf16, are as in
// `elementwise` (IEEE 754 throughout). Repeated runs are bit-identical.
//
// Backward: the gradient of a broadcast operand is the gradient of the full-sized result
// (`elementwise_backward`), summed over the repeated axes (`reduction`).
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

// naive: one thread per element, which finds its coordinates by divisions. vectorized: 16-byte
// accesses to data that is contiguous along the innermost axis; a repeated element is read once per
// pack. Neighbouring axes that both operands traverse alike are merged.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// The shape of out. Throws Error if the shapes do not match, a rank exceeds kMaxRank or an extent
// is negative.
std::vector<std::int64_t> result_shape(Shape a, Shape b);

// Enqueues the operation and returns the variant that runs; an empty result launches nothing. T:
// float, f16, bf16. Throws Error where result_shape does, on a null pointer, and on a disallowed
// overlap of out and an operand.
template <class T>
Variant run(Op op, const T* a, Shape a_shape, const T* b, Shape b_shape, T* out, Variant variant,
            Stream& stream);

// Each element of a and b is read once, each of out written once; one operation per result.
Work work(Dtype dtype, Shape a, Shape b);

} // namespace kg::broadcast
