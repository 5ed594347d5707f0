// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// reduction: sum, mean, maximum or minimum over one axis of a tensor: out[o][i] = x[o][0][i] (op)
// x[o][1][i] (op) ...
//
// Problem: x is outer x axis x inner, with element x[o][a][i] at o stride[0] + a stride[1] + i. out
// is packed, outer x inner. Neighbouring axes of a packed tensor merge (see `merged`): a matrix's
// rows are rows x cols x 1, its columns 1 x rows x cols, all of it 1 x (rows cols) x 1. out
// overlaps neither x nor the workspace.
//
// Arithmetic: f32, f16 and bf16 accumulate in f32 (a mean whose sum exceeds f32 is infinite). A
// mean is the sum divided by the extent, and the result is rounded once. i32 supports only sums,
// modulo 2^32. Every variant combines in a fixed order: repeated runs are bit-identical.
//
// Special values: IEEE 754. A NaN makes its sum, mean, maximum or minimum NaN (as cuDNN's
// PROPAGATE_NAN); so do infinities of both signs in a sum. No other result changes. A sum starts
// from +0, so zeros of either sign sum to +0. The maximum or minimum of zeros of both signs may
// have either sign. Subnormals are kept. With axis = 0, sums are 0 and means NaN; a maximum or
// minimum is an error.
#pragma once

#include "ops/reduction/op.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kg::reduction {

// naive: one thread per result, or one block for a single result. tiled: many threads per result
// with 16-byte loads, combined through shuffles and shared memory. A second launch combines the
// blocks' partial results where one block per result would not fill the device.
enum class Variant { automatic, naive, tiled };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled};

// The variant that runs when `variant` is requested.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::tiled : variant;
}

// f32, f16 and bf16 support all operations; i32 only the sum.
bool supports(Op op, Dtype dtype);

using kg::name;

using Extents = std::array<std::int64_t, 3>; // outer, axis, inner

// Merges the axes [first, last) of a packed tensor. Throws Error unless 0 <= first <= last <= rank.
Extents merged(std::span<const std::int64_t> shape, std::size_t first, std::size_t last);

// The view of a packed tensor.
template <class T>
constexpr View<const T, 3> packed(const T* data, Extents extents) {
  return {data, extents, packed_strides<3>(extents)};
}

// Bytes of device workspace that `run` needs, aligned to 16; may be 0. x.data is not accessed.
template <class T>
std::size_t workspace_bytes(const View<const T, 3>& x, Variant variant);

// Enqueues the reduction and returns the variant that runs. T: float, f16, bf16, std::int32_t.
// Throws Error on negative extents, an element stride other than 1, overlapping rows, an operation
// that T does not support, an empty maximum or minimum, or a required pointer that is null.
template <class T>
Variant run(Op op, View<const T, 3> x, T* out, void* workspace, Variant variant, Stream& stream);

// Longest sequential chain of additions in one result, at any alignment; the error bound of a sum
// grows with it.
template <class T>
std::int64_t chain(const View<const T, 3>& x, Variant variant);

// One read and one operation per element, one write per result.
Work work(Dtype dtype, Extents extents);

} // namespace kg::reduction
