// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// concat: tensors side by side along one axis, bit for bit; and split, which takes them apart again
// and is its backward.
//
// Problem: the whole is outer x (sum of extents) x inner, part p is outer x extents[p] x inner; for
// an axis of a tensor, outer is the product of the extents before it and inner of those behind it.
// Elements of 1, 2, 4 or 8 bytes, any number of parts, each with an extent of 0 or more. Layout:
// all packed; any alignment of the element itself, in each part another; parts and whole must not
// overlap. Special values: there are none, since only bits move: NaN payloads and the signs of
// zeros arrive unchanged. Repeated runs are bit-identical.
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

// concat: from parts to the whole. split: back.
enum class Op { concat, split };
inline constexpr Op kOps[] = {Op::concat, Op::split};

// naive: one element per thread. vectorized: 16-byte stores, and 16-byte loads however the source
// is aligned. Both move up to kPartsPerLaunch parts in a launch.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

inline constexpr int kPartsPerLaunch = 8;

std::string_view name(Op op);
// Enqueues the operation and returns the variant that runs. One pointer per part, null only where
// the part has no elements. Throws Error on negative extents, another number of pointers than of
// extents, a null pointer, a part that overlaps the whole, or elements of another size.
Variant run_concat(std::span<const void* const> parts, void* whole, const Problem& problem,
                   std::size_t element_bytes, Variant variant, Stream& stream);
Variant run_split(const void* whole, std::span<void* const> parts, const Problem& problem,
                  std::size_t element_bytes, Variant variant, Stream& stream);

// One read and one write per element, no arithmetic.
Work work(Dtype dtype, const Problem& problem);

} // namespace kg::concat
