// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gated_activation_backward: of y[r, c] = act(x[r, c]) x[r, cols + c], see gated_activation.h,
// dx[r, c] = dy[r, c] x[r, cols + c] act'(x[r, c]) and dx[r, cols + c] = dy[r, c] act(x[r, c]).
//
// Problem: packed row-major matrices, x and dx of rows x 2 cols, dy of rows x cols. Layout: any
// alignment of T itself; dx may be x, other overlap is not allowed. All types compute in f32: dy
// times the second half is rounded to f32, and then what `activation_backward` takes for dy; each
// gradient is rounded once to T.
// Special values: NaN gives NaN. The products are IEEE 754's: an infinity, or a product beyond f32,
// times a slope or an activation that is 0 or underflows gives NaN; but where the gate is at most
// 0, reglu's gradient of the gate is +0 whatever the others are. Subnormals are kept. Accuracy:
// that of `activation_backward` and of `activation`, and one rounding more
// (tests/oracle/oracle_gated_activation.h). Repeated runs are bit-identical.
#pragma once

#include "ops/gated_activation/gated_activation.h"
#include "primitives/vectorization.h"

namespace kg::gated_activation_backward {

using gated_activation::Form;
using gated_activation::kForms;

// naive: one element of dy per thread. vectorized: 16-byte accesses where cols and all pointers
// allow them, single elements side by side elsewhere; grid sized to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. rows >= 0 and cols >= 0; where one is 0
// nothing is launched. T: float, f16, bf16. Throws Error on a negative extent, a null pointer, and
// where dx overlaps dy, or x in part.
template <class T>
Variant run(Form form, const T* x, const T* dy, T* dx, std::int64_t rows, std::int64_t cols,
            Variant variant, Stream& stream);

// Three reads and two writes per element of dy; five operations, the activation, its slope and
// three products.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::gated_activation_backward
