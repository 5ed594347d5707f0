// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// elementwise_backward: the gradients of both operands of `elementwise`'s product and quotient, in
// one pass, from the gradient dy of the result:
//   mul   da = dy b      db = dy a
//   div   da = dy / b    db = -(dy / b) (a / b)
// Sum and difference need no kernel: their gradients are dy and -dy. For a broadcast operand, sum
// the gradient computed here over the repeated axes (`reduction`).
//
// Problem: contiguous arrays of n elements. Layout: pointers need only T's own alignment. da and db
// may each be any input (in place), but not each other; other overlap is not allowed.
//
// Rounding: each operation above is rounded to f32, and a stored result once more to T. Products,
// and da of a quotient, are correctly rounded in every type, as in `elementwise`. db of a quotient
// has three roundings. Its relative error before the store is at most 3 u of f32, unless one of its
// quotients is subnormal. db uses two quotients rather than b^2 because b^2 leaves f32's range at
// 2e19 and 1e-23. With them, db is finite wherever the quotients and the result are.
//
// Special values: IEEE 754 throughout (b = 0 gives infinities and NaN, NaN propagates with any
// payload, subnormals are kept). Repeated runs are bit-identical.
#pragma once

#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::elementwise_backward {

enum class Op { mul, div };
inline constexpr Op kOps[] = {Op::mul, Op::div};

// naive: one thread per element. vectorized: 16-byte accesses, grid sized to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. n >= 0; n = 0 launches nothing. T:
// float, f16, bf16. Throws Error on a negative n, a null pointer, outputs that overlap each other,
// or an output that partially overlaps an input.
template <class T>
Variant run(Op op, const T* dy, const T* a, const T* b, T* da, T* db, std::int64_t n,
            Variant variant, Stream& stream);

// Three reads and two writes per element; two operations (mul) or three (div).
Work work(Op op, Dtype dtype, std::int64_t n);

} // namespace kg::elementwise_backward
