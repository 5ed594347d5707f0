// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Segments of an array, given by their offsets.
#pragma once

#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <cstdint>
#include <string>

namespace kg {

// Segment s is [offsets[s], offsets[s + 1]) and may be empty. `offsets` is device memory with
// count + 1 non-decreasing values, from 0 to the number of elements.
struct Segments {
  const std::int32_t* offsets = nullptr;
  std::int64_t count = 0;

  std::int64_t bytes() const { return (count + 1) * static_cast<std::int64_t>(sizeof *offsets); }
};

// Throws Error naming the operation `what` if these cannot be segments of n elements.
inline void require_segments(const std::string& what, const Segments& segments, std::int64_t n) {
  require_extent(what + ": segments", segments.count);
  if (n == 0) return;
  require_elements(what + ": offsets", segments.offsets, segments.count + 1);
  require(segments.count > 0,
          what + ": there are elements, and segments is 0; it must be at least 1");
}

} // namespace kg
