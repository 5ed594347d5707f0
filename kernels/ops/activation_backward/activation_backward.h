// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// activation_backward: dx[i] = dy[i] f'(x[i]) for the functions of `activation`. x is the input of
// the forward pass.
//
// Problem: contiguous arrays of n elements. Layout: pointers need only T's own alignment. dx may be
// x or dy; other overlap is not allowed. f16 and bf16 compute in f32 and round once.
// Special values: NaN in x or dy gives NaN. f' at an infinity is its limit, 0 or 1. The product
// follows IEEE 754, so an infinite dy gives NaN where f' is 0 or underflows. Only relu selects: dy
// where x > 0, and +0 where x <= 0 (including x = 0), whatever dy is. Subnormals are kept.
// Accuracy: relu is exact. The others err by units in the last place of the terms of f'. Those
// terms cancel only where f' changes sign (gelu near -0.75, silu near -1.28); see
// tests/oracle/tolerance_unary_backward.h. Repeated runs are bit-identical.
#pragma once

#include "ops/activation/activation.h"
#include "primitives/vectorization.h"

namespace kg::activation_backward {

using activation::Function;
using activation::kFunctions;

// naive: one thread per element. vectorized: 16-byte accesses, grid sized to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. n >= 0; n = 0 launches nothing. T:
// float, f16, bf16. Throws Error on a negative n or a null pointer.
template <class T>
Variant run(Function function, const T* x, const T* dy, T* dx, std::int64_t n, Variant variant,
            Stream& stream);

// Two reads, one write and one operation per element, whichever the function.
Work work(Dtype dtype, std::int64_t n);

} // namespace kg::activation_backward
