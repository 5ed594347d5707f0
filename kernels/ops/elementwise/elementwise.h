// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// elementwise: out[i] = a[i] (op) b[i], each result correctly rounded to the element type.
//
// Problem: contiguous arrays of n elements. Layout: pointers need only T's own alignment. out may
// be a or b; other overlap is not allowed. Special values: IEEE 754 throughout (x/0 = inf, 0/0 =
// NaN, NaN propagates with any payload, zeros keep their signs, subnormals are kept). Repeated runs
// are bit-identical. f16 and bf16 compute in f32 and round once more; this is correctly rounded:
// 24 >= 2*11 + 2 bits (Figueroa, "When is double rounding innocuous?", 1995). bf16 has f32's
// exponent range, so its subnormal results are subnormal in f32 and outside the theorem. There,
// sums are exact. Exhaustive comparison of all products and quotients below 2^-125 found no
// difference.
// f64 and i32 support only the sum: f64 adds in f64, i32 wraps around (modulo 2^32).
#pragma once

#include "ops/elementwise/op.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::elementwise {

// naive: one thread per element. vectorized: 16-byte accesses, grid sized to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// f32, f16 and bf16 support all operations; f64 and i32 only the sum.
constexpr bool supports(Op op, Dtype dtype) {
  return op == Op::add || (dtype != Dtype::f64 && dtype != Dtype::i32);
}

// Enqueues the operation and returns the variant that runs. n >= 0; n = 0 launches nothing. T:
// float, f16, bf16, double, int. Throws Error where supports() is false, on a negative n or a null
// pointer.
template <class T>
Variant run(Op op, const T* a, const T* b, T* out, std::int64_t n, Variant variant, Stream& stream);

// Two reads, one write and one operation per element.
Work work(Dtype dtype, std::int64_t n);

} // namespace kg::elementwise
