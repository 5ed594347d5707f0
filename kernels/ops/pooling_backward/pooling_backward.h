// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// pooling_backward: dx, the gradient of pooling in its input, from dy, the one in its output. A
// maximum hands dy to its window's first largest element, in the order of rows and then columns; an
// average hands each of its elements the same share, dy over the window's divisor
// (ops/pooling/problem.h has windows and divisors).
//
// Problem: dense x and dx, dense dy, of any alignment of T itself; dx overlaps none of the others.
// Each element of dx is gathered by one thread, from the windows in their order (of averages of 3x3
// at stride 1 line by line), in f32, and rounded once to T: repeated runs are bit-identical,
// without atomics. An element that no window hands anything is +0.
//
// Special values: a NaN in x is larger than any number, so the first NaN of a window gets its dy;
// in a window of nothing but -inf it is the first element. NaN and infinities in dy reach what
// their window hands them to. A window without an element of the input hands dy to nobody.
#pragma once

#include "ops/pooling/problem.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::pooling_backward {

// naive: one thread per element of dx, which searches each of its windows for the maximum again.
// vectorized: the places of the maxima are found once, one byte per window, and then 16 bytes are
// gathered per thread: of channels where they come last, else of a plane, if of a maximum. Windows
// of 3x3 at stride 1 or 2 and of 2x2 at stride 2 have kernels that gather several rows of them, and
// maxima at stride 2 kernels that do both.
enum class Variant { automatic, naive, vectorized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::vectorized};

using kg::name;

// The places of a maximum that a byte can tell apart.
inline constexpr std::int64_t kMostPlaces = 256;

// vectorized finds maxima in windows of at most kMostPlaces taps; averages have no limit.
bool supports(Variant variant, pooling::Kind kind, const pooling::Problem& problem);

// What runs where `variant` is asked for.
Variant resolved(Variant variant, pooling::Kind kind, const pooling::Problem& problem);

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
std::size_t workspace_bytes(Variant variant, pooling::Kind kind, const pooling::Problem& problem);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. x is read by the
// maximum alone, and may be null otherwise. Nothing is launched for batch or channels of 0. Throws
// Error for a problem that pooling::require_problem refuses, a variant that does not support it, a
// null pointer, or more threads than a launch can have.
template <class T>
Variant run(pooling::Kind kind, const pooling::Problem& problem, const T* x, const T* dy, T* dx,
            void* workspace, Variant variant, Stream& stream);

// dy read once, dx written once, and x read once by the maximum; one operation per tap.
Work work(Dtype dtype, pooling::Kind kind, const pooling::Problem& problem);

} // namespace kg::pooling_backward
