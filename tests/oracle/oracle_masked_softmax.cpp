// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_masked_softmax.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/error.h"

namespace kg::test {

SoftmaxOracle masked_softmax_oracle(double scale, std::span<const double> x,
                                    std::span<const std::uint8_t> keep, std::int64_t rows,
                                    std::int64_t columns) {
  require(
      x.size() == keep.size(),
      fmt::format("masked softmax oracle: {} elements and {} of the mask", x.size(), keep.size()));
  std::vector<double> seen;
  for (std::size_t i = 0; i < x.size(); ++i)
    seen.push_back(keep[i] != 0 ? scale * x[i] : -kInfinity);
  SoftmaxOracle result = softmax_oracle(seen, rows, columns);
  for (std::int64_t r = 0; r < rows && columns > 0; ++r) {
    const auto first = static_cast<std::size_t>(r * columns);
    const auto count = static_cast<std::size_t>(columns);
    const auto row = std::span(seen).subspan(first, count);
    if (!std::all_of(row.begin(), row.end(), [](double value) { return value == -kInfinity; }))
      continue;
    std::fill_n(result.value.begin() + static_cast<std::ptrdiff_t>(first), count, 0);
    std::fill_n(result.distance.begin() + static_cast<std::ptrdiff_t>(first), count, kInfinity);
  }
  return result;
}

std::vector<std::uint8_t> causal_keep(std::int64_t rows, std::int64_t columns,
                                      std::int64_t queries) {
  std::vector<std::uint8_t> keep;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      keep.push_back(c <= r % queries + columns - queries ? 1 : 0);
  return keep;
}

} // namespace kg::test
