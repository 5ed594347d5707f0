// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/variants.h"

namespace kg::vendor {

// The whole is outer x (sum of extents) x inner; part p is outer x extents[p] x inner. All packed.
struct ConcatShape {
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  std::span<const std::int64_t> extents;
};

// A library without a concatenation copies part by part, with its strided copy. split always copies
// part by part.
void concat(std::string_view variant, Dtype dtype, std::span<const void* const> parts, void* whole,
            const ConcatShape& shape, Stream& stream);
void split(std::string_view variant, Dtype dtype, const void* whole, std::span<void* const> parts,
           const ConcatShape& shape, Stream& stream);

// A nonempty part, as an outer x cols matrix.
struct ConcatPart {
  const void* data;
  std::int64_t cols;
};

struct ConcatVariant {
  std::string_view name; // also the name of a variant of copy
  bool supports(Dtype dtype) const;
  // Null if the library has no concatenation.
  void (*concat)(Dtype dtype, std::span<const ConcatPart> parts, std::int64_t outer, void* whole,
                 Stream& stream);
};
extern const Table<ConcatVariant> concat_table;

} // namespace kg::vendor
