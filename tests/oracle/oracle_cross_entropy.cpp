// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_cross_entropy.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/error.h"
#include "tests/oracle/oracle_rows.h"

namespace kg::test {

namespace {

void require_sizes(const CrossEntropyProblem& problem, std::span<const double> x,
                   std::span<const std::int64_t> target) {
  require(std::ssize(x) == problem.rows * problem.classes && std::ssize(target) == problem.rows,
          fmt::format("cross-entropy oracle: {} logits and {} targets for {}x{}", x.size(),
                      target.size(), problem.rows, problem.classes));
  for (const std::int64_t each : target)
    require(each == problem.ignored || (each >= 0 && each < problem.classes),
            fmt::format("cross-entropy oracle: target {} of {} classes", each, problem.classes));
}

// Of a class, in a row that is not ignored.
double weight_of(const CrossEntropyProblem& problem, bool is_target) {
  return problem.label_smoothing / static_cast<double>(problem.classes) +
         (is_target ? 1 - problem.label_smoothing : 0);
}

} // namespace

CrossEntropyOracle cross_entropy_oracle(const CrossEntropyProblem& problem,
                                        std::span<const double> x,
                                        std::span<const std::int64_t> target) {
  require_sizes(problem, x, target);
  const auto classes = static_cast<std::size_t>(problem.classes);
  CrossEntropyOracle result;
  for (auto* const each : {&result.loss, &result.log_sum, &result.log_of_sum, &result.distance,
                           &result.spread, &result.apart})
    each->resize(target.size());
  for (std::size_t i = 0; i < target.size(); ++i) {
    result.counts.push_back(target[i] != problem.ignored);
    if (!result.counts[i]) continue;
    const auto row = x.subspan(i * classes, classes);
    const double most = row_maxima_oracle(row, 1, problem.classes).value[0];
    const double at_target = row[static_cast<std::size_t>(target[i])];
    double sum = 0, spread = 0, apart = 0, loss = 0;
    for (const double each : row) {
      const double exponential = std::exp(each - most);
      sum += exponential;
      if (exponential > 0) spread += exponential * (most - each);
      apart += std::fabs(each - at_target) / static_cast<double>(classes);
    }
    // For rows with NaN or +inf, or of -inf only, IEEE arithmetic gives a loss of NaN.
    const bool nothing = most < 0 && std::isinf(most);
    result.log_of_sum[i] = std::log(sum);
    result.log_sum[i] = nothing ? most : most + result.log_of_sum[i];
    for (std::size_t j = 0; j < classes; ++j) {
      const double weight = weight_of(problem, static_cast<std::int64_t>(j) == target[i]);
      if (weight > 0) loss += weight * (result.log_of_sum[i] + (most - row[j]));
    }
    if (problem.z_loss > 0) loss += problem.z_loss * result.log_sum[i] * result.log_sum[i];
    result.loss[i] = loss;
    result.distance[i] = most - at_target;
    result.spread[i] = spread / sum;
    result.apart[i] = apart;
  }
  return result;
}

CrossEntropyBackwardOracle cross_entropy_backward_oracle(const CrossEntropyProblem& problem,
                                                         std::span<const double> x,
                                                         std::span<const std::int64_t> target,
                                                         std::span<const double> log_sum,
                                                         std::span<const double> dloss) {
  require_sizes(problem, x, target);
  require(log_sum.size() == target.size() && dloss.size() == target.size(),
          fmt::format("cross-entropy oracle: {} log-sums and {} gradients for {} rows",
                      log_sum.size(), dloss.size(), target.size()));
  CrossEntropyBackwardOracle result;
  for (auto* const each :
       {&result.value, &result.probability, &result.weight, &result.distance, &result.scale})
    each->resize(x.size());
  for (std::size_t at = 0; at < x.size(); ++at) {
    const std::size_t i = at / static_cast<std::size_t>(problem.classes);
    if (target[i] == problem.ignored) continue;
    const auto j = static_cast<std::int64_t>(at % static_cast<std::size_t>(problem.classes));
    const double weight = weight_of(problem, j == target[i]);
    const double probability = std::exp(x[at] - log_sum[i]);
    const double factor = 1 + 2 * problem.z_loss * log_sum[i];
    result.value[at] = dloss[i] * (probability * factor - weight);
    result.scale[at] = std::fabs(dloss[i]) * (1 + 2 * problem.z_loss * std::fabs(log_sum[i]));
    result.probability[at] = probability * result.scale[at];
    result.weight[at] = std::fabs(dloss[i]) * weight;
    result.distance[at] = std::fabs(x[at] - log_sum[i]);
  }
  return result;
}

} // namespace kg::test
