// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// axpy: out[i] = alpha * x[i] + y[i], by one fused multiply-add in f32.
//
// Problem: contiguous arrays of n elements; alpha is f32 for every element type. Layout: any
// alignment of T itself; out may be x, y or both (the BLAS form is out = y), other overlap is not
// allowed.
//
// Rounding: alpha * x[i] + y[i] is exact and rounded once to f32. For f16 and bf16 that f32 number
// is rounded once more to T: the result is within 0.5 ulp of T plus 0.5 ulp of f32 and, unlike
// that of `elementwise`, not always the nearest number, since a multiply-add of two 24-bit factors
// is beyond what the theorem on double rounding covers.
//
// Special values: the formula as IEEE 754 has it, for every alpha; NaN propagates with any payload,
// subnormals are kept. alpha = 1 is x + y and alpha = -1 is y - x, correctly rounded. alpha = 0 is
// no special case, unlike in BLAS, which returns y without reading x: 0 * inf and 0 * NaN are NaN,
// and y = -0 becomes +0 where x is not negative. An infinite alpha makes NaN of x = 0, and
// a NaN alpha of everything. Repeated runs are bit-identical.
#pragma once

#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::axpy {

// naive: one element per thread, one thread per element. vectorized: 16-byte accesses, grid sized
// to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. n >= 0; n = 0 launches nothing. T:
// float, f16, bf16. Throws Error on a negative n, a null pointer, or an out that overlaps x or y
// in part.
template <class T>
Variant run(float alpha, const T* x, const T* y, T* out, std::int64_t n, Variant variant,
            Stream& stream);

// Two reads and one write per element, one multiply-add.
Work work(Dtype dtype, std::int64_t n);

} // namespace kg::axpy
