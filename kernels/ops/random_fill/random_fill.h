// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// random_fill: fills an array with random numbers of a stream (primitives/philox.h). They equal
// cuRAND's for the same seed, subsequence and offset:
//   uniform    low + (high - low) u, for u in (0, 1]
//   normal     mean + deviation z, by Box and Muller (1958)
//   bernoulli  1 with probability p, else 0; 1 marks what dropout with this p drops
// For an element's word w, u = w 2^-32 + 2^-33, with w first rounded to f32. For elements 2 j and 2
// j + 1, z is sqrt(-2 ln u) sin(2 pi v) and sqrt(-2 ln u) cos(2 pi v), with u from the first word
// and v from the second. bernoulli gives 1 where w < p 2^32, rounded to an integer.
//
// Problem: n contiguous elements; pointers need only T's own alignment. In every variant, element i
// takes word i after the offset. Callers advance the offset by n, or by n rounded up to a multiple
// of 4, which keeps the fast path. Splitting an array at an odd element changes its normal numbers.
//
// Rounding: computed in f32 and rounded once to T, so u in (0, 1] may become 0 in f16. Special
// values: IEEE 754 if mean, low or high is special.
#pragma once

#include "primitives/philox.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::random_fill {

enum class Kind { uniform, normal, bernoulli };
inline constexpr Kind kKinds[] = {Kind::uniform, Kind::normal, Kind::bernoulli};

template <class T>
struct Problem {
  Kind kind = Kind::uniform;
  std::int64_t n = 0;
  T* y = nullptr;
  RandomStream stream = {};
  float low = 0, high = 1;       // uniform
  float mean = 0, deviation = 1; // normal; deviation: 0 or more
  float p = 0.5;                 // bernoulli; from 0 to 1
};

// naive: one thread per element, which generates a block of words for itself. vectorized: 16-byte
// accesses and each word generated once, if y is aligned to 16 bytes and the offset is a multiple
// of 4; else as naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. T: float, f16,
// bf16. n may be 0. Throws Error naming the field on a negative n, a required pointer that is null,
// a deviation that is negative or NaN, or a p outside [0, 1].
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// n elements are written; the operations of the formula, with a root, a logarithm, a sine and a
// cosine counted as one each.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::random_fill
