// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// quantised_matmul: Y = X W^T, where W, and X for some kinds, has 4 or 8 bits per element with
// scales:
//   w4    y[i][j] = sum over groups of scale[j][g] sum over the group of x[i][c] w[j][c]
//   w8    the same, with weights of 8 bits
//   w8a8  y[i][j] = x_scale[i] w_scale[j] sum of x[i][c] w[j][c], the sum in integers
//   e4m3  the same for e4m3 numbers (primitives/fp8.h), the sum in f32
// Rows of W are the output features of torch.nn.Linear. w4 and w8 are for few rows of X, as in a
// decoding step of a language model, where reading W dominates. For many rows, dequantise W first
// and use a GEMM.
//
// Problem: X is m x k, W n x k, Y m x n, all packed, aligned to their elements. w4 stores two
// weights per byte, the first in the lower half, each plus 8. w8 and w8a8 store signed bytes; so
// does X in w8a8. A scale covers `group` consecutive elements of a row (k / group scales per row);
// in w8a8 and e4m3, the whole row. Y must not overlap inputs.
//
// Rounding: w4 and w8 multiply and add in f32, within a group and then over groups. w8a8 converts
// an exact sum to f32; e4m3 adds exact products in f32; both multiply by x_scale, then by w_scale.
// Exception: wgmma adds 128 products of e4m3 as Tensor Cores do, which are reported to keep about
// 14 bits, and then adds such sums in f32. The result is rounded once to T. Special values: IEEE
// 754. Repeated runs are bit-identical.
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

// Whether both X and W have 8 bits and one scale per row.
constexpr bool by_rows(Kind kind) { return kind == Kind::w8a8 || kind == Kind::e4m3; }

// T: float, f16, bf16.
template <class T>
struct Problem {
  Kind kind = Kind::w4;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t group = 128;       // w4 and w8; divides k
  const T* x = nullptr;           // w4 and w8
  const void* x8 = nullptr;       // w8a8 and e4m3: bytes
  const float* x_scale = nullptr; // w8a8 and e4m3: m
  const void* w = nullptr;        // n rows of k / 2 bytes (w4) or k
  const T* scale = nullptr;       // w4 and w8: n rows of k / group
  const float* w_scale = nullptr; // w8a8 and e4m3: n
  T* y = nullptr;
};

// naive: one thread per element of Y. skinny: one warp per row of W, read by 16-byte accesses, for
// one row of X, or four at a time. Requires rows of W and X to consist of such accesses (w4: k a
// multiple of 32, else of 16), and groups to be whole accesses to W; otherwise runs naive. mma:
// w8a8 and e4m3 only; tiles of 128 rows of X and of W on Tensor Cores, under the same condition;
// before compute capability 8.0 runs skinny. wgmma: w8a8 and e4m3 on compute capability 9.0 only;
// tiles of 128 rows of X and 128 or 256 of W by asynchronous Tensor Core instructions. If rows of
// X, W or Y are not aligned to 16 bytes, wgmma runs mma's kernel, and automatic reports mma.
// automatic takes wgmma for w8a8; of e4m3 its sums have fewer bits (see above).
enum class Variant { automatic, naive, skinny, mma, wgmma };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::skinny, Variant::mma,
                                        Variant::wgmma};

// Whether the current device has the variant for this kind. Without a device, whether some device
// has it.
bool supports(Variant variant, Kind kind);

// With fewer rows of X, most of a tile of mma or wgmma is empty.
inline constexpr std::int64_t kManyRows = 17;

// The variant that runs on the current device.
template <class T>
Variant resolved(const Problem<T>& problem, Variant variant);

using kg::name;

// Enqueues the operation and returns the variant that runs. Extents may be 0; with k = 0, Y is 0.
// Throws Error naming the field for: a negative extent; a required pointer that is null; a group
// that does not divide k; an odd k of w4; a k of w8a8 of 2^17 or more, whose sums may exceed 32
// bits; a variant that is not supported; a y that overlaps an input.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// Each input is read once, Y is written once; 2 operations per element of X and row of W.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::quantised_matmul
