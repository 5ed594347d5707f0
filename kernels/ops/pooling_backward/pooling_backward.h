// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// pooling_backward: dx, the gradient of pooling in its input, from dy, the gradient in its output.
// Maximum: each window's dy goes to its first largest element, in row-major order. Average: each
// element of a window receives dy over the window's divisor (ops/pooling/problem.h defines windows
// and divisors).
//
// Problem: dense x, dx and dy; pointers need only T's own alignment. dx overlaps no other array.
// One thread gathers each element of dx from its windows in order (3x3 averages at stride 1: line
// by line). It sums in f32 and rounds once to T, without atomics: repeated runs are bit-identical.
// An element that receives nothing is +0.
//
// Special values: a NaN in x is larger than any number, so a window's dy goes to its first NaN. In
// a window of only -inf, it goes to the first element. NaN and infinities in dy reach the elements
// that receive that dy. The dy of a window without input elements is dropped.
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
// vectorized: finds each window's maximum once and stores its position, one byte per window. Then
// each thread gathers 16 bytes: channels in nhwc, or for maxima part of a plane in nchw. 3x3
// windows at stride 1 or 2 and 2x2 at stride 2 have kernels that gather several rows at a time. For
// maxima at stride 2, one kernel does both steps.
enum class Variant { automatic, naive, vectorized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::vectorized};

using kg::name;

// Positions in a window that a byte can distinguish.
inline constexpr std::int64_t kMostPlaces = 256;

// vectorized finds maxima in windows of at most kMostPlaces taps; averages have no limit.
bool supports(Variant variant, pooling::Kind kind, const pooling::Problem& problem);

// The variant that runs when `variant` is requested.
Variant resolved(Variant variant, pooling::Kind kind, const pooling::Problem& problem);

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
std::size_t workspace_bytes(Variant variant, pooling::Kind kind, const pooling::Problem& problem);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Only maxima read
// x, which may be null otherwise. batch = 0 or channels = 0 launches nothing. Throws Error for a
// problem that pooling::require_problem rejects, a variant that does not support it, a null
// pointer, or more threads than a launch can have.
template <class T>
Variant run(pooling::Kind kind, const pooling::Problem& problem, const T* x, const T* dy, T* dx,
            void* workspace, Variant variant, Stream& stream);

// dy is read once, dx written once; maxima read x once. One operation per tap.
Work work(Dtype dtype, pooling::Kind kind, const pooling::Problem& problem);

} // namespace kg::pooling_backward
