// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// argmax: the index of the largest element along one axis of a tensor.
//
// Problem: x is outer x axis x inner as in reduction.h; reduction::merged merges the axes of a
// packed tensor. out is packed, outer x inner, and overlaps neither x nor the workspace. The index
// is an i32, as in the vendor libraries, so axis is at most 2^31 - 1.
//
// Special values: the first of equal elements wins, in whatever order threads compare them. A NaN
// counts as larger than every number, so the first NaN wins (as in PyTorch). -0 and +0 are equal.
// If every element is -inf, the index is 0. axis = 0 is an error, since no index exists. Repeated
// runs and all variants give the same result.
#pragma once

#include "ops/reduction/reduction.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::argmax {

// naive: one thread per result, or one block for a single result. tiled: as in reduction.h.
enum class Variant { automatic, naive, tiled };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled};

// The variant that runs when `variant` is requested.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::tiled : variant;
}

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0. x.data is not accessed.
template <class T>
std::size_t workspace_bytes(const View<const T, 3>& x, Variant variant);

// Enqueues the search and returns the variant that runs. T: float, f16, bf16. Throws Error on
// negative extents, an element stride other than 1, overlapping rows, an axis that is empty or too
// long for i32, or a required pointer that is null.
template <class T>
Variant run(View<const T, 3> x, std::int32_t* out, void* workspace, Variant variant,
            Stream& stream);

// One read and one comparison per element, one write per result.
Work work(Dtype dtype, reduction::Extents extents);

} // namespace kg::argmax
