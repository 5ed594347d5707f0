// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rope: rotary position embedding (Su et al., arXiv 2104.09864). Pairs of the first `rotary`
// elements of each head's row are rotated by an angle proportional to the token's position; the
// rest is copied:
//   y1 = x1 cos - x2 sin,  y2 = x2 cos + x1 sin
// backward rotates by the negative angles, which gives the gradient of x from that of y.
//
// Problem: x and y have a row of `depth` elements for each head of each token, located by two
// strides. half_split: x2 is rotary / 2 elements after x1 (GPT-NeoX, Llama); interleaved: next to
// x1 (GPT-J). Cosines and sines come from tables with a row of rotary / 2 floats per position,
// computed once by the caller, in f64 for large positions. A kernel that computed them in f32 would
// have the error of rounding position x frequency: 2^-24 of an angle of up to 10^5. Token i has
// position position[i], or i without a list. y may be x, with the same strides; other overlap is
// not allowed.
//
// Rounding: computed in f32 and rounded once to T. Special values: IEEE 754; a NaN or infinity
// reaches only its own pair. Copied elements keep their bits.
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

// Elements between consecutive tokens, or heads.
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
  const std::int32_t* position = nullptr; // per token, below `positions`; null: the token's index
};

// naive: one thread per pair. vectorized: 16-byte accesses to x, if rows, halves and copied parts
// consist of whole vectors; otherwise runs naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic selects vectorized. T: float,
// f16, bf16. Extents may be 0. Throws Error naming the field for: a required pointer that is null;
// a negative extent or stride; a rotary that is odd or exceeds depth; fewer positions than tokens
// without a list; rows of y that overlap. Positions are on the device and not checked.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// x, the tables and a list of positions are read once, y is written once; four products and two
// sums per pair.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::rope
