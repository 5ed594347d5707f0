// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_norm_backward.h"

#include <fmt/format.h>

#include "runtime/error.h"

namespace kg::test {

namespace {

void require_entries(const char* what, std::span<const double> values, std::int64_t count,
                     bool optional = false) {
  require(
      (optional && values.empty()) || static_cast<std::int64_t>(values.size()) == count,
      fmt::format("norm backward oracle: {} has {} entries, not {}", what, values.size(), count));
}

} // namespace

NormBackwardOracle norm_backward_oracle(std::span<const double> dy, std::span<const double> x,
                                        std::int64_t rows, std::int64_t columns,
                                        std::span<const double> gamma, std::span<const double> mean,
                                        std::span<const double> rstd) {
  require_entries("dy", dy, rows * columns);
  require_entries("x", x, rows * columns);
  require_entries("gamma", gamma, columns, true);
  require_entries("mean", mean, rows, true);
  require_entries("rstd", rstd, rows);
  const auto width = static_cast<std::size_t>(columns);
  const auto n = static_cast<double>(columns);
  const std::vector<double> zeros(width);
  NormBackwardOracle result{{}, {}, {}, {}, zeros, zeros, zeros, zeros};
  for (std::size_t r = 0; r < rstd.size() && columns > 0; ++r) {
    const auto row = [&](std::size_t c) { return r * width + c; };
    const auto normalized = [&](std::size_t c) {
      return (x[row(c)] - (mean.empty() ? 0 : mean[r])) * rstd[r];
    };
    const auto scaled = [&](std::size_t c) { return dy[row(c)] * (gamma.empty() ? 1 : gamma[c]); };
    double sum = 0, sum_abs = 0, dot = 0, dot_abs = 0;
    for (std::size_t c = 0; c < width; ++c) {
      sum += scaled(c);
      sum_abs += std::fabs(scaled(c));
      dot += scaled(c) * normalized(c);
      dot_abs += std::fabs(scaled(c) * normalized(c));
      result.dgamma[c] += dy[row(c)] * normalized(c);
      result.dgamma_abs[c] += std::fabs(dy[row(c)] * normalized(c));
      result.dbeta[c] += dy[row(c)];
      result.dbeta_abs[c] += std::fabs(dy[row(c)]);
    }
    if (mean.empty()) sum = sum_abs = 0;
    for (std::size_t c = 0; c < width; ++c) {
      result.dx.push_back(rstd[r] * (scaled(c) - sum / n - normalized(c) * dot / n));
      result.direct.push_back(std::fabs(rstd[r] * scaled(c)));
      result.average.push_back(std::fabs(rstd[r]) * sum_abs / n);
      result.projection.push_back(std::fabs(rstd[r] * normalized(c)) * dot_abs / n);
    }
  }
  return result;
}

} // namespace kg::test
