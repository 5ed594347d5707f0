// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How a `broadcast` kernel traverses its operands. Axes of extent 1 are dropped, and neighbouring
// axes are merged where both operands allow it. Bias and channels thus become matrices whatever
// their rank, and equal shapes one long row.
#pragma once

#include "ops/broadcast/broadcast.h"
#include "primitives/divisor.h"

#include <array>
#include <cstdint>

namespace kg::broadcast {

// One axis. Each operand has a stride in elements, which is 0 where the operand is repeated.
struct Axis {
  Divisor extent;
  std::array<std::int64_t, 2> stride{};
};

struct Plan {
  std::int64_t size = 1;                // of the result
  Axis inner;                           // strides 0 or 1
  std::array<Axis, kMaxRank - 1> outer; // innermost first
  int outer_axes = 0;
  std::array<bool, 2> dense{}; // the operand has the result's shape
};

std::int64_t element_count(Shape shape);

// Precondition: the shapes match, and no extent is 0.
Plan make_plan(Shape a, Shape b);

} // namespace kg::broadcast
