// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// argmax: where the largest element of one axis of a tensor stands: the index on the axis.
//
// Problem: x is outer x axis x inner as in reduction.h (axes of a packed tensor merge by
// reduction::merged); out is packed, outer x inner, and overlaps neither x nor the workspace. The
// index is an i32, which is what the libraries give, too: axis is at most 2^31 - 1.
//
// Special values: the first of equal elements wins, whatever the order in which threads look at
// them. A NaN counts as larger than every number, so the first NaN wins (as in PyTorch). -0 and +0
// are equal. Where every element is -inf the index is 0. With axis = 0 there is no index: an error.
// Repeated runs and all variants give the same result.
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

// naive: one thread per result, one block where there is one result. tiled: as in reduction.h.
enum class Variant { automatic, naive, tiled };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled};

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::tiled : variant;
}

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0. Does not look at x.data.
template <class T>
std::size_t workspace_bytes(const View<const T, 3>& x, Variant variant);

// Enqueues the search and returns the variant that runs. T: float, f16, bf16. Throws Error on
// negative extents, an element stride other than 1, strides of overlapping rows, an axis that is
// empty or too long for i32, or a null pointer where one is needed.
template <class T>
Variant run(View<const T, 3> x, std::int32_t* out, void* workspace, Variant variant,
            Stream& stream);

// One read per element, one write per result, one comparison per element.
Work work(Dtype dtype, reduction::Extents extents);

} // namespace kg::argmax
