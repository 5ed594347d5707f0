// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// elementwise_backward: the gradients of both operands of `elementwise`'s product and quotient, in
// one pass, from the gradient dy of the result:
//   mul   da = dy b      db = dy a
//   div   da = dy / b    db = -(dy / b) (a / b)
// The sum and the difference need no kernel: their gradients are dy and -dy. Where an operand was
// broadcast, its gradient is what comes out here, summed over the repeated axes (`reduction`).
//
// Problem: contiguous arrays of n elements. Layout: any alignment of T itself; da and db may be any
// of the inputs (in place), but not each other; other overlap is not allowed.
//
// Rounding: each operation above is rounded to f32, and what is stored once more to T. Products,
// and the quotient da, are correctly rounded in every type, as in `elementwise`; db of a quotient
// has three roundings and so, unless one of its quotients is subnormal, a relative error of at most
// 3 u of f32 before it is stored. The two quotients, rather than a product by b^2, keep it finite
// wherever they and the result are: b^2 leaves f32's range at 2e19 and 1e-23 already.
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

// naive: one element per thread, one thread per element. vectorized: 16-byte accesses, grid sized
// to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. n >= 0; n = 0 launches nothing. T:
// float, f16, bf16. Throws Error on a negative n, a null pointer, or an output that overlaps the
// other one, or an input in part.
template <class T>
Variant run(Op op, const T* dy, const T* a, const T* b, T* da, T* db, std::int64_t n,
            Variant variant, Stream& stream);

// Three reads and two writes per element; two operations (mul) or three (div).
Work work(Op op, Dtype dtype, std::int64_t n);

} // namespace kg::elementwise_backward
