// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Segments of n elements, given by offsets.
#pragma once

#include <cstdint>

#include "tests/contract/card.h"

namespace kg::card {

// Where segment `number` of `count` begins. Later segments are longer; the second of every three is
// empty, and so is the first one if there are several.
inline std::int64_t segment_begin(std::int64_t n, std::int64_t count, std::int64_t number) {
  if (number == count) return n;
  const double share =
      static_cast<double>(number - (number % 3 == 1 ? 1 : 0)) / static_cast<double>(count);
  return static_cast<std::int64_t>(share * share * static_cast<double>(n));
}

inline Tensor offsets_of_segments(std::int64_t n, std::int64_t count) {
  Tensor offsets{"offsets", Dtype::i32, {count + 1}, false};
  offsets.element = [n, count](std::int64_t i) {
    return static_cast<std::uint64_t>(segment_begin(n, count, i));
  };
  return offsets;
}

} // namespace kg::card
