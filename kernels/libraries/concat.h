// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/variants.h"

namespace kg::vendor {

// The whole is outer x (sum of extents) x inner, part p outer x extents[p] x inner; all packed.
struct ConcatShape {
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  std::span<const std::int64_t> extents;
};

// Where a library has no concatenation, or none of a type, it is its strided copy, once per part;
// and so is every split.
void concat(std::string_view variant, Dtype dtype, std::span<const void* const> parts, void* whole,
            const ConcatShape& shape, Stream& stream);
void split(std::string_view variant, Dtype dtype, const void* whole, std::span<void* const> parts,
           const ConcatShape& shape, Stream& stream);

// A part that has elements, as a matrix of outer x cols.
struct ConcatPart {
  const void* data;
  std::int64_t cols;
};

struct ConcatVariant {
  std::string_view name; // of a variant of copy, too
  bool supports(Dtype dtype) const;
  // Null where the library has none.
  void (*concat)(Dtype dtype, std::span<const ConcatPart> parts, std::int64_t outer, void* whole,
                 Stream& stream);
};
extern const Table<ConcatVariant> concat_table;

} // namespace kg::vendor
