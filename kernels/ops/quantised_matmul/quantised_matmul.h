// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// quantised_matmul: Y = X W^T, where W, and perhaps X, are numbers of 4 or 8 bits with factors:
//   w4    y[i][j] = sum over groups of scale[j][g] sum over the group of x[i][c] w[j][c]
//   w8    the same, with weights of 8 bits
//   w8a8  y[i][j] = x_scale[i] w_scale[j] sum of x[i][c] w[j][c], the sum in integers
//   e4m3  the same of e4m3 numbers (primitives/fp8.h), the sum in f32
// Rows of W are what torch.nn.Linear calls output features. w4 and w8 are meant for few rows of X,
// as a step of a language model has, where W's bytes are the cost; many rows are better served by a
// product of W's values.
//
// Problem: X is m x k, W n x k, Y m x n, all packed, at any alignment of their elements. w4 has two
// weights in a byte, the first in its lower half, each as its value plus 8; w8 and w8a8 have signed
// bytes, of which X has some in w8a8, too. A scale is for `group` neighbours of a row, k / group of
// them; in w8a8 and e4m3 for the whole row. Y overlaps no input.
//
// Rounding: of w4 and w8 products and sums in f32, within a group and then over the groups; of w8a8
// an exact sum, converted to f32, of e4m3 exact products summed in f32; times x_scale, times
// w_scale. The result is rounded once to T.
// Special values: IEEE 754. Repeated runs are bit-identical.
#pragma once

#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::quantised_matmul {

enum class Kind { w4, w8, w8a8, e4m3 };
inline constexpr Kind kKinds[] = {Kind::w4, Kind::w8, Kind::w8a8, Kind::e4m3};

// Whether X and W both have 8 bits, and a scale for each of their rows.
constexpr bool by_rows(Kind kind) { return kind == Kind::w8a8 || kind == Kind::e4m3; }

// T: float, f16, bf16.
template <class T>
struct Problem {
  Kind kind = Kind::w4;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t group = 128;       // of w4 and w8; divides k
  const T* x = nullptr;           // of w4 and w8
  const void* x8 = nullptr;       // of w8a8 and e4m3: bytes
  const float* x_scale = nullptr; // of w8a8 and e4m3: m
  const void* w = nullptr;        // n rows of k / 2 bytes (w4) or k
  const T* scale = nullptr;       // of w4 and w8: n rows of k / group
  const float* w_scale = nullptr; // of w8a8 and e4m3: n
  T* y = nullptr;
};

// naive: one thread per element of Y. skinny: a warp per row of W, 16 bytes of it per access, for
// one row of X, or four at a time; where rows of W and X are made of such accesses (w4: k a
// multiple of 32, else of 16) and groups of the weights of one; else as naive. mma: of w8a8 and
// e4m3 alone: tiles of 128 rows of X and of W on matrix units, under the same condition; before 8.0
// as skinny.
enum class Variant { automatic, naive, skinny, mma };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::skinny, Variant::mma};

// Fewer rows of X leave most of a tile of mma empty.
inline constexpr std::int64_t kManyRows = 17;

// What runs where `variant` is asked for.
constexpr Variant resolved(Kind kind, std::int64_t m, Variant variant) {
  if (variant != Variant::automatic) return variant;
  return by_rows(kind) && m >= kManyRows ? Variant::mma : Variant::skinny;
}

using kg::name;

// Enqueues the operation and returns the variant that runs. Extents may be 0; without columns Y is
// 0. Throws Error naming the field on a negative extent, a null pointer where one is needed, a
// group that does not divide k, an odd k of w4, a k of w8a8 of 2^17 or more, whose sums need not
// fit 32 bits, mma of w4 or w8, or a y that overlaps an input.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// Each input read once, Y written once; a product and a sum for each element of X and row of W.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::quantised_matmul
