// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// axpy: out[i] = alpha * x[i] + y[i], computed with one fused multiply-add in f32.
//
// Problem: contiguous arrays of n elements; alpha is f32 for every element type. Layout: pointers
// need only T's own alignment. out may be x, y or both (the BLAS form is out = y); other overlap is
// not allowed.
//
// Rounding: alpha * x[i] + y[i] is computed exactly and rounded once to f32. For f16 and bf16 that
// f32 number is rounded once more to T, so the result is within 0.5 ulp of T plus 0.5 ulp of f32.
// Unlike in `elementwise`, it is not always the nearest number: the double-rounding theorem does
// not cover a multiply-add of two 24-bit factors.
//
// Special values: the formula follows IEEE 754 for every alpha. NaN propagates with any payload,
// and subnormals are kept. alpha = 1 gives x + y and alpha = -1 gives y - x, correctly rounded.
// alpha = 0 is not special-cased; BLAS instead returns y without reading x. So 0 * inf and 0 * NaN
// are NaN, and y = -0 becomes +0 where x is not negative. An infinite alpha gives NaN where x = 0;
// a NaN alpha gives NaN everywhere. Repeated runs are bit-identical.
#pragma once

#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::axpy {

// naive: one thread per element. vectorized: 16-byte accesses, grid sized to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. n >= 0; n = 0 launches nothing. T:
// float, f16, bf16. Throws Error on a negative n, a null pointer, or an out that partially overlaps
// x or y.
template <class T>
Variant run(float alpha, const T* x, const T* y, T* out, std::int64_t n, Variant variant,
            Stream& stream);

// Two reads, one write and one multiply-add per element.
Work work(Dtype dtype, std::int64_t n);

} // namespace kg::axpy
