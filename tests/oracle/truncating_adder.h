// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The adder of a Tensor Core according to published models (tolerance.h, MatrixUnit): a group's
// products and the accumulator are aligned to their largest exponent, truncated to the fraction
// bits and added exactly; the sum is truncated to f32.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/oracle/tolerance.h"

namespace kg::test {

// Finite numbers. `terms` are a group's products and the accumulator.
inline double truncating_sum(std::span<const double> terms, int fraction_bits) {
  constexpr int kFloatFraction = 23;
  int largest = -1000;
  for (const double term : terms)
    if (term != 0) largest = std::max(largest, std::ilogb(term));
  const double quantum = std::ldexp(1.0, largest - fraction_bits);
  double sum = 0; // a few integers below 2^53: exact
  for (const double term : terms) sum += std::trunc(term / quantum);
  if (sum == 0) return 0;
  const double last = std::ldexp(1.0, std::ilogb(sum) - kFloatFraction);
  return std::trunc(sum / last) * last * quantum;
}

// The sum of the products, group by group.
inline double truncating_sum_of_products(std::span<const double> products, const MatrixUnit& unit) {
  double accumulator = 0;
  const auto group = static_cast<std::size_t>(unit.products);
  for (std::size_t first = 0; first < products.size(); first += group) {
    const auto part = products.subspan(first, std::min(group, products.size() - first));
    std::vector<double> terms(part.begin(), part.end());
    terms.push_back(accumulator);
    accumulator = truncating_sum(terms, unit.fraction_bits);
  }
  return accumulator;
}

} // namespace kg::test
