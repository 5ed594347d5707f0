// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// pooling: each output is the maximum or average of a two-dimensional window (problem.h defines the
// windows, extents and layouts).
//
// Problem: dense x and y, which must not overlap; pointers need only T's own alignment. Averages
// are summed in f32, divided once and rounded once to T. Every variant adds in a fixed order:
// repeated runs are bit-identical.
//
// Special values: a NaN in a window makes its result NaN, with any payload. Infinities and
// subnormals are kept. If zeros of both signs are the largest elements, the maximum may be either
// zero. A window without input elements gives -inf as a maximum and 0 as an average.
#pragma once

#include "ops/pooling/problem.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::pooling {

// naive: one thread per output. vectorized: a thread computes a strip of outputs with shared loads,
// for 16 bytes of channels in nhwc. 3x3 windows at stride 1 or 2 and 2x2 at stride 2 have kernels
// that load many elements ahead. Global pooling uses a warp or block per plane, or a block for many
// small planes.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. batch = 0 or
// channels = 0 launches nothing. Throws Error for a problem that require_problem rejects, a null
// pointer, or more threads than a launch can have.
template <class T>
Variant run(Kind kind, const Problem& problem, const T* x, T* y, Variant variant, Stream& stream);

// Each element of x is read once, though strides may skip some; each element of y is written once.
// One operation per tap.
Work work(Dtype dtype, const Problem& problem);

} // namespace kg::pooling
