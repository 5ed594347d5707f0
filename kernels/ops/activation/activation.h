// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// activation: y[i] = f(x[i]) for relu, sigmoid, tanh, gelu (by erf), gelu_tanh and silu.
//
// Problem: contiguous arrays of n elements. Layout: pointers need only T's own alignment. y may be
// x; other overlap is not allowed. f16 and bf16 compute in f32 and round once.
// Special values: NaN gives NaN, and an infinity gives the limit of f. f(-0) is -0 for all
// functions but sigmoid; this includes relu, defined as "0 where x < 0, else x". gelu, gelu_tanh
// and silu approach 0 from below towards -inf and give -0 there. Subnormal arguments and results
// are kept. Accuracy: relu is exact. The others err by a few units in the last place of the result;
// in the left tails of gelu, by the error of rounding x itself (tests/oracle/tolerance_unary.h).
// Repeated runs are bit-identical.
#pragma once

#include "primitives/activation.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::activation {

// naive: one thread per element. vectorized: 16-byte accesses, grid sized to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. n >= 0; n = 0 launches nothing. T:
// float, f16, bf16. Throws Error on a negative n or a null pointer.
template <class T>
Variant run(Function function, const T* x, T* y, std::int64_t n, Variant variant, Stream& stream);

// One read, one write and one operation per element, whichever the function.
Work work(Dtype dtype, std::int64_t n);

} // namespace kg::activation
