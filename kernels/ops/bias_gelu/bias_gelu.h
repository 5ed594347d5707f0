// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// bias_gelu: y[r, c] = gelu(x[r, c] + bias[c]) in one pass: the step after the first matrix product
// of a transformer's feed-forward block.
//
// Problem: a packed row-major rows x cols matrix and a vector of cols elements. Layout: pointers
// need only T's own alignment. y may be x; other overlap is not allowed. All types compute in f32.
// The sum is rounded to f32, never to T; the result is rounded once to T.
// Special values: as `activation`'s gelu of the sum. NaN gives NaN, +inf gives +inf, -inf gives -0,
// and a sum of opposite infinities gives NaN. A sum beyond f32's range is infinite. Subnormals are
// kept. Accuracy: as `activation`'s gelu of an argument rounded once to f32
// (tests/oracle/oracle_bias_gelu.h). Repeated runs are bit-identical.
#pragma once

#include "ops/bias_gelu/form.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::bias_gelu {

// naive: one thread per element, which divides to find its column. vectorized: 16-byte accesses,
// grid sized to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. rows >= 0 and cols >= 0; if either is
// 0, nothing is launched. T: float, f16, bf16. Throws Error on a negative extent, a null pointer, a
// y that overlaps bias, or a y that partially overlaps x.
template <class T>
Variant run(Form form, const T* x, const T* bias, T* y, std::int64_t rows, std::int64_t cols,
            Variant variant, Stream& stream);

// x and bias are read once, y is written once; two operations per element, the sum and the gelu.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::bias_gelu
