// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// random_fill: fills an array with random numbers of a stream (primitives/philox.h), cuRAND's for
// the same seed, subsequence and offset:
//   uniform    low + (high - low) u, for u in (0, 1]
//   normal     mean + deviation z, by Box and Muller (1958)
//   bernoulli  1 with probability p, else 0: of dropout with this p, what is dropped
// With w the word of the element, u = w 2^-32 + 2^-33, w rounded to f32 first. Of a pair of
// elements 2 j and 2 j + 1, z is sqrt(-2 ln u) sin(2 pi v) and sqrt(-2 ln u) cos(2 pi v) for the u
// of the first word and the v of the second. A 1 is drawn where w < p 2^32, rounded to an integer.
//
// Problem: n contiguous elements at any alignment of T itself; element i takes word i behind the
// offset, whatever the variant. Callers move the offset on by n, or by n rounded up to a multiple
// of 4, which keeps the fast path; normal numbers of an array that is cut at an odd element are
// other ones.
//
// Rounding: computed in f32 and rounded once to T; u in (0, 1] may then be 0 in f16. Special
// values: IEEE 754, where mean, low or high are special.
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

// naive: one thread per element, which makes all words of a block for its own. vectorized: 16 bytes
// per access and each word made once, where y is aligned to 16 bytes and the offset is a multiple
// of 4; else as naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. T: float, f16,
// bf16. n may be 0. Throws Error naming the field on a negative n, a null pointer where one is
// needed, a deviation that is negative or NaN, or a p outside [0, 1].
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// n elements written; the operations of the formula, with a root, a logarithm, a sine and a cosine
// as one each.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::random_fill
