// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// dropout: drops each element with probability p and scales the others to preserve the mean
// (Srivastava et al., JMLR 15, 2014):
//   y[i] = x[i] / (1 - p) where word i of the stream is at least p 2^32, else 0
// The gradient of x is the same function of the gradient of y. So a backward pass is this call with
// the same stream, and no mask is stored.
//
// Problem: contiguous arrays of n elements; pointers need only T's own alignment. y may be x; other
// overlap is not allowed. The stream is cuRAND's (primitives/philox.h). In every variant, element i
// takes word i after the offset, so a tensor may be split anywhere. Callers advance the offset by
// n, or by n rounded up to a multiple of 4, which keeps the fast path.
//
// Rounding: p 2^32 is rounded to an integer and 1 / (1 - p) to f32. The product is computed in f32
// and rounded once to T. Special values: IEEE 754 for kept elements. Dropped elements become +0,
// even if they are NaN.
#pragma once

#include "primitives/philox.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::dropout {

template <class T>
struct Problem {
  std::int64_t n = 0;
  const T* x = nullptr;
  T* y = nullptr;
  float p = 0; // probability of being dropped, in [0, 1)
  RandomStream stream = {};
};

// naive: one thread per element, which generates four words and uses one. vectorized: 16-byte
// accesses and each word generated once, if x and y are aligned to 16 bytes and the offset is a
// multiple of 4; else as naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. T: float, f16,
// bf16. n may be 0. Throws Error naming the field on a negative n, a required pointer that is null,
// a p outside [0, 1), or a y that partially overlaps x.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// x is read once, y written once; one product per element. Integer operations of the random number
// generator are not counted.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::dropout
