// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How a kernel of `broadcast` walks its operands. Axes of extent 1 are dropped, and neighbouring
// axes become one where both operands allow it, so bias and channels are matrices whatever their
// rank, and equal shapes are one long row.
#pragma once

#include "ops/broadcast/broadcast.h"
#include "primitives/divisor.h"

#include <array>
#include <cstdint>

namespace kg::broadcast {

// One axis: elements between neighbours in each operand, 0 where it is repeated.
struct Axis {
  Divisor extent;
  std::array<std::int64_t, 2> stride{};
};

struct Plan {
  std::int64_t size = 1;                // of the result
  Axis inner;                           // strides 0 or 1
  std::array<Axis, kMaxRank - 1> outer; // from the innermost on
  int outer_axes = 0;
  std::array<bool, 2> dense{}; // the operand has the result's shape
};

std::int64_t element_count(Shape shape);

// The shapes match and have no extent of 0.
Plan make_plan(Shape a, Shape b);

} // namespace kg::broadcast
