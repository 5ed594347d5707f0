// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_softmax_backward.h"

#include <cmath>

#include <fmt/format.h>

#include "runtime/error.h"
#include "tests/oracle/oracle.h"

namespace kg::test {

namespace {

void require_matrices(std::span<const double> y, std::span<const double> dy, std::int64_t rows,
                      std::int64_t columns) {
  for (const auto size : {y.size(), dy.size()})
    require(static_cast<std::int64_t>(size) == rows * columns,
            fmt::format("softmax-backward oracle: {} elements for {}x{}", size, rows, columns));
}

} // namespace

SoftmaxBackwardOracle softmax_backward_oracle(std::span<const double> y, std::span<const double> dy,
                                              std::int64_t rows, std::int64_t columns) {
  require_matrices(y, dy, rows, columns);
  std::vector<double> terms;
  for (std::size_t i = 0; i < y.size(); ++i) terms.push_back(y[i] * dy[i]);
  const SumOracle sums = row_sums_oracle(terms, rows, columns);
  SoftmaxBackwardOracle result;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(columns);
    result.value.push_back(y[i] * (dy[i] - sums.value[row]));
    result.weight.push_back(std::fabs(y[i]));
    result.sum_abs.push_back(sums.sum_abs[row]);
  }
  return result;
}

SoftmaxBackwardOracle log_softmax_backward_oracle(std::span<const double> y,
                                                  std::span<const double> dy, std::int64_t rows,
                                                  std::int64_t columns) {
  require_matrices(y, dy, rows, columns);
  const SumOracle sums = row_sums_oracle(dy, rows, columns);
  SoftmaxBackwardOracle result;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(columns);
    result.weight.push_back(std::exp(y[i]));
    result.value.push_back(dy[i] - result.weight.back() * sums.value[row]);
    result.sum_abs.push_back(sums.sum_abs[row]);
  }
  return result;
}

} // namespace kg::test
