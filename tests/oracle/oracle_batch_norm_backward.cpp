// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_batch_norm_backward.h"

#include <cmath>

#include <fmt/format.h>

#include "runtime/error.h"

namespace kg::test {

NormBackwardOracle batch_norm_backward_oracle(std::span<const double> dy, std::span<const double> x,
                                              std::span<const double> gamma,
                                              std::span<const double> mean,
                                              std::span<const double> rstd) {
  const std::size_t channels = mean.size();
  require(
      rstd.size() == channels && (gamma.empty() || gamma.size() == channels),
      fmt::format("batch norm backward oracle: {} means, {} rstd and {} gamma; give one of each "
                  "per channel (or no gamma)",
                  channels, rstd.size(), gamma.size()));
  require(dy.size() == x.size() && (channels == 0 ? x.empty() : x.size() % channels == 0),
          fmt::format("batch norm backward oracle: {} and {} elements for {} channels", dy.size(),
                      x.size(), channels));
  const std::size_t each = channels == 0 ? 0 : x.size() / channels;
  const auto count = static_cast<double>(each);
  NormBackwardOracle result;
  for (std::size_t c = 0; c < channels; ++c) {
    double dgamma = 0, dgamma_abs = 0, dbeta = 0, dbeta_abs = 0;
    for (std::size_t i = c * each; i < (c + 1) * each; ++i) {
      const double term = dy[i] * ((x[i] - mean[c]) * rstd[c]);
      dgamma += term;
      dgamma_abs += std::fabs(term);
      dbeta += dy[i];
      dbeta_abs += std::fabs(dy[i]);
    }
    result.dgamma.push_back(dgamma);
    result.dgamma_abs.push_back(dgamma_abs);
    result.dbeta.push_back(dbeta);
    result.dbeta_abs.push_back(dbeta_abs);
    const double scale = rstd[c] * (gamma.empty() ? 1 : gamma[c]);
    for (std::size_t i = c * each; i < (c + 1) * each; ++i) {
      const double n = (x[i] - mean[c]) * rstd[c];
      result.dx.push_back(scale * (dy[i] - dbeta / count - n * (dgamma / count)));
      result.direct.push_back(std::fabs(scale * dy[i]));
      result.average.push_back(std::fabs(scale) * dbeta_abs / count);
      result.projection.push_back(std::fabs(scale * n) * dgamma_abs / count);
    }
  }
  return result;
}

} // namespace kg::test
