// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// pooling: each output is the maximum or the average of a window of two dimensions (problem.h has
// the windows, the extents and the layouts).
//
// Problem: dense x and y, which must not overlap, of any alignment of T itself. Averages are summed
// up in f32, divided once and rounded once to T. Every variant adds in a fixed order: repeated runs
// are bit-identical.
//
// Special values: a NaN in a window makes its result NaN, of any payload. Infinities and subnormals
// are kept; where zeros of both signs are the largest, the maximum may be either. A window without
// an element of the input is -inf as a maximum and 0 as an average.
#pragma once

#include "ops/pooling/problem.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::pooling {

// naive: one thread per output. vectorized: a thread has a strip of outputs that share what they
// read, of 16 bytes of channels where they come last; windows of 3x3 at stride 1 or 2 and of 2x2 at
// stride 2 have kernels that load many of their elements first; for global pooling a warp or block
// has a plane, or a block many small ones.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Nothing is
// launched for batch or channels of 0. Throws Error for a problem that require_problem refuses, a
// null pointer, or more threads than a launch can have.
template <class T>
Variant run(Kind kind, const Problem& problem, const T* x, T* y, Variant variant, Stream& stream);

// Each element of x read once, though strides may pass over some, and each of y written once; one
// operation per tap.
Work work(Dtype dtype, const Problem& problem);

} // namespace kg::pooling
