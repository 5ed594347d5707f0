// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_batch_norm.h"

#include <fmt/format.h>

#include "runtime/error.h"

namespace kg::test {

namespace {

void require_per_channel(const char* what, std::span<const double> values, std::size_t channels,
                         bool optional) {
  require((optional && values.empty()) || values.size() == channels,
          fmt::format("batch norm oracle: {} has {} entries for {} channels", what, values.size(),
                      channels));
}

template <typename Bound>
std::vector<double> stored_bounds(const NormOracle& oracle, Dtype output, Bound bound) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.value.size(); ++i)
    bounds.push_back(
        std::isfinite(oracle.value[i]) ? stored_tolerance(output, oracle.value[i], bound(i)) : 0);
  return bounds;
}

} // namespace

NormOracle batch_norm_inference_oracle(std::span<const double> x, std::span<const double> gamma,
                                       std::span<const double> beta, std::span<const double> mean,
                                       std::span<const double> variance, double epsilon) {
  require_per_channel("gamma", gamma, mean.size(), true);
  require_per_channel("beta", beta, mean.size(), true);
  require_per_channel("variance", variance, mean.size(), false);
  require(mean.empty() ? x.empty() : x.size() % mean.size() == 0,
          fmt::format("batch norm oracle: {} elements for {} channels", x.size(), mean.size()));
  NormOracle result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i / (x.size() / mean.size());
    const double deviation = std::sqrt(variance[c] + epsilon);
    const double g = gamma.empty() ? 1 : gamma[c];
    const double b = beta.empty() ? 0 : beta[c];
    result.normalized.push_back((x[i] - mean[c]) / deviation);
    result.value.push_back(result.normalized.back() * g + b);
    result.skew.push_back(std::fabs(mean[c]) / deviation);
    result.spread.push_back(std::sqrt(variance[c]) / deviation);
    result.gamma.push_back(std::fabs(g));
    result.beta.push_back(std::fabs(b));
  }
  return result;
}

BatchNormOracle batch_norm_statistics(std::span<const double> x, std::int64_t channels) {
  require(channels > 0 ? x.size() % static_cast<std::size_t>(channels) == 0 : x.empty(),
          fmt::format("batch norm oracle: {} elements for {} channels", x.size(), channels));
  const std::int64_t each =
      channels > 0 ? static_cast<std::int64_t>(x.size()) / channels : std::int64_t{0};
  BatchNormOracle result;
  result.mean = row_means_oracle(x, channels, each).value;
  std::vector<double> squares;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double centred = x[i] - result.mean[i / static_cast<std::size_t>(each)];
    squares.push_back(centred * centred);
  }
  result.variance = row_means_oracle(squares, channels, each).value;
  return result;
}

BatchNormOracle batch_norm_oracle(std::span<const double> x, std::int64_t channels,
                                  std::span<const double> gamma, std::span<const double> beta,
                                  double epsilon) {
  BatchNormOracle result = batch_norm_statistics(x, channels);
  result.y = batch_norm_inference_oracle(x, gamma, beta, result.mean, result.variance, epsilon);
  return result;
}

std::vector<double> batch_norm_tolerances(const NormOracle& oracle, Dtype output,
                                          std::int64_t chain) {
  return stored_bounds(oracle, output, [&](std::size_t i) {
    return layer_norm_f32_tolerance(oracle.value[i], oracle.normalized[i], oracle.skew[i],
                                    oracle.spread[i], oracle.gamma[i], oracle.beta[i], chain);
  });
}

std::vector<double> batch_norm_inference_tolerances(const NormOracle& oracle, Dtype output) {
  return stored_bounds(oracle, output, [&](std::size_t i) {
    return unit_roundoff(Dtype::f32) * (6 * std::fabs(oracle.normalized[i]) * oracle.gamma[i] +
                                        std::fabs(oracle.value[i])) +
           half_min_subnormal(Dtype::f32);
  });
}

StatisticsBounds batch_norm_statistics_bounds(double mean, double variance, double epsilon,
                                              Dtype input, std::int64_t count, std::int64_t chain) {
  const double u = unit_roundoff(Dtype::f32);
  const double walk = 1.5 * std::sqrt(static_cast<double>(chain));
  const double squares = input == Dtype::f32 ? walk : static_cast<double>(chain);
  const double deviation = std::sqrt(variance + epsilon);
  const double mean_bound = (16 + walk) * u * (std::fabs(mean) + deviation);
  const double joined = 7 * u * std::fabs(mean) / deviation *
                        std::sqrt(static_cast<double>(chain) / static_cast<double>(count));
  return {mean_bound, (16 + squares) * u + std::pow(mean_bound / deviation, 2) + joined};
}

} // namespace kg::test
