// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/pattern.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/oracle/strided.h"

namespace kg::test {

namespace {

struct Range {
  std::int64_t low;
  std::int64_t high;
};

std::string dimension_name(std::size_t d, std::size_t rank) {
  if (rank == 1) return "index";
  if (rank == 2) return d == 0 ? "row" : "column";
  return fmt::format("dimension {}", d);
}

std::string plural(std::size_t d, std::size_t rank) {
  return rank == 2 ? dimension_name(d, rank) + "s" : dimension_name(d, rank);
}

// The largest period for which all coordinates have the same remainder; 1 if there is none. A power
// of two, like lanes, vectors and tiles.
std::int64_t common_period(const std::vector<std::int64_t>& coordinates, std::int64_t extent) {
  constexpr std::size_t kFewest = 4; // fewer may agree by chance
  if (coordinates.size() < kFewest) return 1;
  for (std::int64_t period = 1024; period >= 2; period /= 2) {
    if (period * 2 > extent) continue;
    if (std::all_of(coordinates.begin(), coordinates.end(), [&](std::int64_t coordinate) {
          return coordinate % period == coordinates.front() % period;
        }))
      return period;
  }
  return 1;
}

// The smallest aligned square tile of the last two dimensions that contains all failures; 0 if
// there is none. Failures that span a complete dimension are rows or columns, not a tile.
std::int64_t common_tile(const Range& rows, const Range& columns, std::int64_t row_extent,
                         std::int64_t column_extent) {
  const auto spans = [](const Range& range, std::int64_t extent) {
    return range.low == 0 && range.high == extent - 1;
  };
  if (spans(rows, row_extent) || spans(columns, column_extent)) return 0;
  for (const std::int64_t tile : {8, 16, 32, 64, 128}) {
    if (rows.low / tile == rows.high / tile && columns.low / tile == columns.high / tile)
      return tile;
  }
  return 0;
}

} // namespace

std::string pattern_hint(std::span<const std::int64_t> failures,
                         std::span<const std::int64_t> shape) {
  const std::int64_t total = element_count(shape);
  const auto count = static_cast<std::int64_t>(failures.size());
  if (count == 0) return "";
  if (count == total)
    return "every element: a scale, a missing slice of the sum or nothing written";
  if (count == 1)
    return fmt::format("a single element, ({})",
                       fmt::join(coordinates(failures.front(), shape), ", "));

  const std::size_t rank = shape.size();
  std::vector<std::vector<std::int64_t>> along(rank);
  for (const std::int64_t failure : failures) {
    const std::vector<std::int64_t> position = coordinates(failure, shape);
    for (std::size_t d = 0; d < rank; ++d) along[d].push_back(position[d]);
  }
  std::vector<Range> ranges;
  double box = 1;
  for (const std::vector<std::int64_t>& line : along) {
    const auto [low, high] = std::minmax_element(line.begin(), line.end());
    ranges.push_back({*low, *high});
    box *= static_cast<double>(*high - *low + 1);
  }
  // The limits of a range are meaningful only if the failures fill most of their bounding box: a
  // few isolated ones do not.
  const bool dense = static_cast<double>(count) > 0.5 * box;

  std::vector<std::string> findings;
  const auto is_fixed = [&](std::size_t d) {
    return shape[d] > 1 && ranges[d].low == ranges[d].high;
  };
  if (rank >= 2 && !is_fixed(rank - 2) && !is_fixed(rank - 1)) {
    const Range rows = ranges[rank - 2];
    const Range columns = ranges[rank - 1];
    if (const std::int64_t tile = common_tile(rows, columns, shape[rank - 2], shape[rank - 1]))
      findings.push_back(fmt::format("one {0}x{0} tile at ({1}, {2})", tile, rows.low / tile * tile,
                                     columns.low / tile * tile));
  }
  const bool in_tile = !findings.empty();
  for (std::size_t d = 0; d < rank; ++d) {
    const Range range = ranges[d];
    if (is_fixed(d)) {
      findings.push_back(fmt::format("{} {}", dimension_name(d, rank), range.low));
    } else if (in_tile && d + 2 >= rank) {
      continue;
    } else if (const std::int64_t period = common_period(along[d], shape[d]); period > 1) {
      findings.push_back(
          fmt::format("{} % {} == {}", dimension_name(d, rank), period, range.low % period));
    } else if (dense && range.low > 0 && range.high == shape[d] - 1) {
      findings.push_back(fmt::format("{} >= {}", plural(d, rank), range.low));
    } else if (dense && range.low == 0 && range.high < shape[d] - 1) {
      findings.push_back(fmt::format("{} <= {}", plural(d, rank), range.high));
    }
  }
  if (findings.empty()) return "no common row, column, tile or period";
  return "all in " + fmt::format("{}", fmt::join(findings, ", "));
}

} // namespace kg::test
