// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gated_activation_backward: for y[r, c] = act(x[r, c]) x[r, cols + c], see gated_activation.h,
// dx[r, c] = dy[r, c] x[r, cols + c] act'(x[r, c]) and dx[r, cols + c] = dy[r, c] act(x[r, c]).
//
// Problem: packed row-major matrices, x and dx of rows x 2 cols, dy of rows x cols. Layout:
// pointers need only T's own alignment. dx may be x; other overlap is not allowed. All types
// compute in f32. dy times the second half is rounded to f32 and then used as dy of
// `activation_backward`. Each gradient is rounded once to T.
// Special values: NaN gives NaN. Products follow IEEE 754: an infinity, or a product beyond f32,
// times a derivative or activation that is 0 or underflows gives NaN. The exception is reglu with a
// gate of at most 0: the gate's gradient is +0 whatever the other inputs are. Subnormals are kept.
// Accuracy: as `activation_backward` and `activation`, plus one rounding
// (tests/oracle/oracle_gated_activation.h). Repeated runs are bit-identical.
#pragma once

#include "ops/gated_activation/gated_activation.h"
#include "primitives/vectorization.h"

namespace kg::gated_activation_backward {

using gated_activation::Form;
using gated_activation::kForms;

// naive: one thread per element of dy. vectorized: 16-byte accesses if cols and all pointers allow
// them; else neighbouring threads access single elements. The grid is sized to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. rows >= 0 and cols >= 0; if either is
// 0, nothing is launched. T: float, f16, bf16. Throws Error on a negative extent, a null pointer, a
// dx that overlaps dy, or a dx that partially overlaps x.
template <class T>
Variant run(Form form, const T* x, const T* dy, T* dx, std::int64_t rows, std::int64_t cols,
            Variant variant, Stream& stream);

// Three reads and two writes per element of dy. Five operations: the activation, its derivative and
// three products.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::gated_activation_backward
