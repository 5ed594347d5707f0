// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// dropout: each element is dropped with probability p, and the others are scaled so that the mean
// stays (Srivastava et al., JMLR 15, 2014):
//   y[i] = x[i] / (1 - p) where word i of the stream is at least p 2^32, else 0
// The gradient of x is the same function of the gradient of y, with the same stream: a backward
// pass is this call once more, and no mask is kept.
//
// Problem: contiguous arrays of n elements, at any alignment of T itself. y may be x; other overlap
// is not allowed. The stream is cuRAND's (primitives/philox.h): element i takes word i behind the
// offset, whatever the variant, so a tensor may be cut anywhere. Callers move the offset on by n,
// or by n rounded up to a multiple of 4, which keeps the fast path.
//
// Rounding: p 2^32 is rounded to an integer and 1 / (1 - p) to f32; the product is computed in f32
// and rounded once to T. Special values: IEEE 754 where an element is kept; what is dropped is +0,
// of a NaN, too.
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
  float p = 0; // of being dropped, from 0 on, below 1
  RandomStream stream = {};
};

// naive: one thread per element, which makes four words and takes one. vectorized: 16 bytes per
// access and each word made once, where x and y are aligned to 16 bytes and the offset is a
// multiple of 4; else as naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. T: float, f16,
// bf16. n may be 0. Throws Error naming the field on a negative n, a null pointer where one is
// needed, a p outside [0, 1), or a y that overlaps x in part.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// x read once, y written once; a product per element. Of the integers that make the words nothing
// is counted.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::dropout
