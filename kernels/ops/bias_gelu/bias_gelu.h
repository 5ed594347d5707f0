// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// bias_gelu: y[r, c] = gelu(x[r, c] + bias[c]), what follows the first matrix product of a
// transformer's feed-forward block, in one pass.
//
// Problem: a packed row-major matrix of rows x cols and a vector of cols. Layout: any alignment of
// T itself; y may be x, other overlap is not allowed. All types compute in f32; the sum is rounded
// to f32, never to T, and the result once to T.
// Special values: those of `activation`'s gelu, of the sum: NaN gives NaN, +inf itself, -inf gives
// -0, opposite infinities NaN; a sum beyond f32's range is infinite. Subnormals are kept. Accuracy:
// that of `activation`'s gelu, with an argument that was rounded once to f32
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

// naive: one element per thread, its column by a division. vectorized: 16-byte accesses, grid sized
// to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. rows >= 0 and cols >= 0; where one is 0
// nothing is launched. T: float, f16, bf16. Throws Error on a negative extent, a null pointer, and
// where y overlaps bias, or x in part.
template <class T>
Variant run(Form form, const T* x, const T* bias, T* y, std::int64_t rows, std::int64_t cols,
            Variant variant, Stream& stream);

// x and bias read once, y written once; two operations per element, the sum and the gelu.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::bias_gelu
