// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Relations between results that need no oracle: how the output changes if the input is scaled,
// permuted, transposed, or changed in one row. They detect mistakes that kernel and oracle share.
// Arrays are dense and row-major.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/oracle/numbers.h"
#include "tests/oracle/random.h"

namespace kg::test {

// Each value times 2^exponent: exact as long as nothing leaves the normal range.
inline std::vector<double> scaled(std::vector<double> values, int exponent) {
  for (double& value : values) value = std::ldexp(value, exponent);
  return values;
}

// A random permutation of 0 ... n-1 without fixed points (n >= 2): a random cycle, after Sattolo,
// Information Processing Letters 22, 1986.
inline std::vector<std::int64_t> permutation(std::int64_t n, std::uint64_t seed = test::seed()) {
  constexpr std::uint64_t kStream = 1 << 10;
  const Random random(seed, kStream);
  std::vector<std::int64_t> cycle(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) cycle[static_cast<std::size_t>(i)] = i;
  for (std::int64_t i = n - 1; i > 0; --i)
    std::swap(
        cycle[static_cast<std::size_t>(i)],
        cycle[static_cast<std::size_t>(random.integer(static_cast<std::uint64_t>(i), 0, i - 1))]);
  return cycle;
}

// Row i of the result is row order[i] of x.
template <typename T>
std::vector<T> permuted_rows(const std::vector<T>& x, std::span<const std::int64_t> order) {
  const auto columns = order.empty() ? 0 : x.size() / order.size();
  std::vector<T> result;
  result.reserve(x.size());
  for (const std::int64_t row : order)
    for (std::size_t c = 0; c < columns; ++c)
      result.push_back(x[static_cast<std::size_t>(row) * columns + c]);
  return result;
}

// Column j of the result is column order[j] of x.
template <typename T>
std::vector<T> permuted_columns(const std::vector<T>& x, std::span<const std::int64_t> order) {
  std::vector<T> result;
  result.reserve(x.size());
  for (std::size_t row = 0; row < x.size(); row += order.size())
    for (const std::int64_t column : order)
      result.push_back(x[row + static_cast<std::size_t>(column)]);
  return result;
}

// The same bits; the failure names the relation and the first difference.
template <typename T>
testing::AssertionResult same_bits(const std::string& relation, const std::vector<T>& actual,
                                   const std::vector<T>& expected) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure()
           << relation << ": " << actual.size() << " elements, not " << expected.size();
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (raw_bits(actual[i]) != raw_bits(expected[i]))
      return testing::AssertionFailure()
             << relation << " does not hold, first at element " << i << ": " << to_double(actual[i])
             << " and " << to_double(expected[i]);
  return testing::AssertionSuccess();
}

// Rows of `columns` elements are independent. The input of `changed` differs in row `row` only, so
// that row must differ from `before`, and all other rows must have the same bits: a NaN must not
// leak out of its row.
template <typename T>
testing::AssertionResult only_row_differs(const std::vector<T>& before,
                                          const std::vector<T>& changed, std::int64_t columns,
                                          std::int64_t row) {
  bool differs = false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (raw_bits(before[i]) == raw_bits(changed[i])) continue;
    const auto at = static_cast<std::int64_t>(i) / columns;
    if (at != row)
      return testing::AssertionFailure()
             << "a change in row " << row << " reached row " << at << ", element " << i;
    differs = true;
  }
  if (!differs) return testing::AssertionFailure() << "a change in row " << row << " has no effect";
  return testing::AssertionSuccess();
}

} // namespace kg::test
