// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_rows.h"

#include <cmath>

#include <fmt/format.h>

#include "runtime/error.h"
#include "tests/oracle/oracle.h"

namespace kg::test {

namespace {

std::span<const double> row_of(std::span<const double> x, std::int64_t row, std::int64_t columns) {
  return x.subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns));
}

void require_matrix(const char* what, std::span<const double> x, std::int64_t rows,
                    std::int64_t columns) {
  require(static_cast<std::int64_t>(x.size()) == rows * columns,
          fmt::format("{} oracle: {} elements for {}x{}", what, x.size(), rows, columns));
}

void require_per_column(const char* what, std::span<const double> values, std::int64_t columns) {
  require(values.empty() || static_cast<std::int64_t>(values.size()) == columns,
          fmt::format("norm oracle: {} has {} entries for {} columns: give one per column or none",
                      what, values.size(), columns));
}

template <typename Better>
ExtremumOracle extrema(std::span<const double> x, std::int64_t rows, std::int64_t columns,
                       Better better) {
  require_matrix("extremum", x, rows, columns);
  require(rows == 0 || columns > 0, "extremum oracle: a row without elements has no extremum");
  ExtremumOracle result;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = row_of(x, r, columns);
    std::size_t at = 0;
    for (std::size_t i = 1; i < row.size() && !std::isnan(row[at]); ++i)
      if (std::isnan(row[i]) || better(row[i], row[at])) at = i;
    result.value.push_back(row[at]);
    result.index.push_back(static_cast<std::int64_t>(at));
  }
  return result;
}

// Both normalisations: (x - mean) / deviation, with the mean of the centred squares.
NormOracle normalized(std::span<const double> x, std::int64_t rows, std::int64_t columns,
                      std::span<const double> gamma, std::span<const double> beta, double epsilon,
                      bool centred) {
  require_matrix("norm", x, rows, columns);
  require_per_column("gamma", gamma, columns);
  require_per_column("beta", beta, columns);
  NormOracle result;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = row_of(x, r, columns);
    const double mean = centred ? row_means_oracle(row, 1, columns).value[0] : 0;
    std::vector<double> squares;
    for (const double value : row) squares.push_back((value - mean) * (value - mean));
    const double variance = row_means_oracle(squares, 1, columns).value[0];
    const double deviation = std::sqrt(variance + epsilon);
    for (std::size_t c = 0; c < row.size(); ++c) {
      const double g = gamma.empty() ? 1 : gamma[c];
      const double b = beta.empty() ? 0 : beta[c];
      result.normalized.push_back((row[c] - mean) / deviation);
      result.value.push_back(result.normalized.back() * g + b);
      result.skew.push_back(std::fabs(mean) / deviation);
      result.spread.push_back(std::sqrt(variance) / deviation);
      result.gamma.push_back(std::fabs(g));
      result.beta.push_back(std::fabs(b));
    }
  }
  return result;
}

} // namespace

ExtremumOracle row_maxima_oracle(std::span<const double> x, std::int64_t rows,
                                 std::int64_t columns) {
  return extrema(x, rows, columns, [](double a, double b) { return a > b; });
}

ExtremumOracle row_minima_oracle(std::span<const double> x, std::int64_t rows,
                                 std::int64_t columns) {
  return extrema(x, rows, columns, [](double a, double b) { return a < b; });
}

MeanOracle row_means_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns) {
  const SumOracle sums = row_sums_oracle(x, rows, columns);
  const auto n = static_cast<double>(columns);
  MeanOracle result;
  for (std::size_t r = 0; r < sums.value.size(); ++r) {
    result.value.push_back(columns == 0 ? kNan : sums.value[r] / n);
    result.norm2.push_back(sums.norm2[r]);
    result.mean_abs.push_back(columns == 0 ? kNan : sums.sum_abs[r] / n);
  }
  return result;
}

LogSoftmaxOracle log_softmax_oracle(std::span<const double> x, std::int64_t rows,
                                    std::int64_t columns) {
  require_matrix("log-softmax", x, rows, columns);
  LogSoftmaxOracle result;
  for (std::int64_t r = 0; r < rows && columns > 0; ++r) {
    const auto row = row_of(x, r, columns);
    const double most = row_maxima_oracle(row, 1, columns).value[0];
    const bool undefined = !std::isfinite(most); // NaN, +inf, or all -inf
    std::vector<double> exponentials;
    for (const double value : row) exponentials.push_back(std::exp(value - most));
    const double log_sum = std::log(row_sums_oracle(exponentials, 1, columns).value[0]);
    for (const double value : row) {
      result.value.push_back(undefined ? kNan : (value - most) - log_sum);
      result.distance.push_back(undefined ? 0 : most - value);
      result.log_sum.push_back(undefined ? 0 : log_sum);
    }
  }
  return result;
}

NormOracle layer_norm_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns,
                             std::span<const double> gamma, std::span<const double> beta,
                             double epsilon) {
  return normalized(x, rows, columns, gamma, beta, epsilon, true);
}

NormOracle rms_norm_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns,
                           std::span<const double> gamma, double epsilon) {
  return normalized(x, rows, columns, gamma, {}, epsilon, false);
}

} // namespace kg::test
