// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// concat: joins tensors along one axis, bit for bit. split: takes them apart again; it is the
// backward pass of concat.
//
// Problem: the whole is outer x (sum of extents) x inner, and part p is outer x extents[p] x inner.
// For an axis of a tensor, outer is the product of the extents before the axis, inner of those
// after it. Elements have 1, 2, 4 or 8 bytes. There may be any number of parts, each with an extent
// of 0 or more. Layout: all packed; each pointer needs only the element's own alignment. Parts and
// whole must not overlap. Special values: none, since only bits move; NaN payloads and signs of
// zeros are unchanged. Repeated runs are bit-identical.
#pragma once

#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kg::concat {

struct Problem {
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  std::span<const std::int64_t> extents; // of the parts along the axis
};

// concat: parts to whole. split: whole to parts.
enum class Op { concat, split };
inline constexpr Op kOps[] = {Op::concat, Op::split};

// naive: one thread per element. vectorized: 16-byte stores, and 16-byte loads whatever the
// alignment of the source. Both move up to kPartsPerLaunch parts per launch.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

inline constexpr int kPartsPerLaunch = 8;

std::string_view name(Op op);
// Enqueues the operation and returns the variant that runs. One pointer per part, null only if the
// part is empty. Throws Error on negative extents, numbers of pointers and extents that differ, a
// null pointer, a part that overlaps the whole, or an unsupported element size.
Variant run_concat(std::span<const void* const> parts, void* whole, const Problem& problem,
                   std::size_t element_bytes, Variant variant, Stream& stream);
Variant run_split(const void* whole, std::span<void* const> parts, const Problem& problem,
                  std::size_t element_bytes, Variant variant, Stream& stream);

// One read and one write per element, no arithmetic.
Work work(Dtype dtype, const Problem& problem);

} // namespace kg::concat
