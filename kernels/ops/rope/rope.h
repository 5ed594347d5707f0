// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rope: rotary positions (Su et al., arXiv 2104.09864). Pairs of the first `rotary` elements of
// each head's row are turned by an angle that grows with the token's position; the rest is copied:
//   y1 = x1 cos - x2 sin,  y2 = x2 cos + x1 sin
// backward turns by the negative angles, which is the gradient of x for that of y.
//
// Problem: x and y have a row of `depth` elements for each head of each token; where a row begins
// is a matter of two strides. half_split: x2 stands rotary / 2 behind x1 (GPT-NeoX, Llama);
// interleaved: right behind it (GPT-J). Cosines and sines come from tables of a row of rotary / 2
// floats for each position, made once by the caller, in f64 where positions are large: a kernel
// that computed them would be wrong by the rounding of position x frequency, 2^-24 of an angle that
// may be 10^5. Token i has position position[i], or i. y may be x, with the same strides; other
// overlap is not allowed.
//
// Rounding: computed in f32 and rounded once to T. Special values: IEEE 754; a NaN or infinity
// reaches its own pair alone. What is copied keeps its bits.
#pragma once

#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::rope {

enum class Layout { half_split, interleaved };
enum class Direction { forward, backward };
std::string_view name(Layout layout);

// Elements from one token or head to the next.
struct Strides {
  std::int64_t token = 0, head = 0;
};

template <class T>
struct Problem {
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t depth = 0;
  std::int64_t rotary = 0; // even, at most depth
  Layout layout = Layout::half_split;
  Direction direction = Direction::forward;
  const T* x = nullptr;
  Strides x_stride = {};
  T* y = nullptr;
  Strides y_stride = {};
  std::int64_t positions = 0;             // rows of the tables
  const float* cosine = nullptr;          // positions x rotary / 2, packed
  const float* sine = nullptr;            //
  const std::int32_t* position = nullptr; // of each token, below `positions`; null: its number
};

// naive: one thread per pair. vectorized: 16 bytes of x per access, wherever rows, halves and what
// is copied are made of such packs; else as naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. T: float, f16,
// bf16. Extents may be 0. Throws Error naming the field on a null pointer where one is needed, a
// negative extent or stride, a rotary that is odd or more than depth, fewer positions than tokens
// where there is no list of them, or rows of y that overlap. Positions lie on the device and are
// not checked.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// x and the tables read once, y written once, the positions where there is a list; four products
// and two sums per pair.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::rope
