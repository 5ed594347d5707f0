// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of reductions over one axis: x and its gradient are outer x axis x inner, dy is
// outer x inner, row-major.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/oracle/oracle_rows.h"

namespace kg::test {

using ReducedExtents = std::array<std::int64_t, 3>; // outer, axis, inner

// dy / divisor at every index of the axis. The divisor is 1 for a sum, and the axis' extent for a
// mean.
inline std::vector<double> shared_gradient_oracle(std::span<const double> dy,
                                                  const ReducedExtents& extents, double divisor) {
  const auto [outer, axis, inner] = extents;
  std::vector<double> dx;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t a = 0; a < axis; ++a)
      for (std::int64_t i = 0; i < inner; ++i)
        dx.push_back(dy[static_cast<std::size_t>(o * inner + i)] / divisor);
  return dx;
}

// dy at the index that row_maxima_oracle (or row_minima_oracle) finds, 0 elsewhere.
inline std::vector<double> extremum_gradient_oracle(std::span<const double> x,
                                                    std::span<const double> dy,
                                                    const ReducedExtents& extents, bool largest) {
  const auto [outer, axis, inner] = extents;
  const auto place = [&extents](std::int64_t o, std::int64_t a, std::int64_t i) {
    return static_cast<std::size_t>((o * extents[1] + a) * extents[2] + i);
  };
  std::vector<double> dx(x.size(), 0.0);
  if (axis == 0) return dx; // no elements, no extremum
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      std::vector<double> line;
      for (std::int64_t a = 0; a < axis; ++a) line.push_back(x[place(o, a, i)]);
      const auto found =
          largest ? row_maxima_oracle(line, 1, axis) : row_minima_oracle(line, 1, axis);
      dx[place(o, found.index[0], i)] = dy[static_cast<std::size_t>(o * inner + i)];
    }
  return dx;
}

} // namespace kg::test
