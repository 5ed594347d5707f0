// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "runtime/error.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle.h"

namespace kg::test {

namespace {

void require_attention_size(const char* what, std::span<const double> values, std::int64_t size) {
  require(static_cast<std::int64_t>(values.size()) == size,
          fmt::format("attention oracle: {} has {} elements, not {}", what, values.size(), size));
}

} // namespace

namespace {

// For one query's scores. NaN if a score is NaN or +inf.
double log_sum_of(std::span<const double> scores) {
  if (scores.empty()) return -std::numeric_limits<double>::infinity();
  const double most = *std::max_element(scores.begin(), scores.end());
  if (std::any_of(scores.begin(), scores.end(), [](double s) { return std::isnan(s); }) ||
      most == std::numeric_limits<double>::infinity())
    return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(most)) return most;
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - most);
  return most + std::log(sum);
}

} // namespace

AttentionOracle attention_oracle(const AttentionProblem& p, std::span<const double> q,
                                 std::span<const double> k, std::span<const double> v,
                                 std::span<const double> bias) {
  require_attention_size("q", q, p.queries * p.depth);
  require_attention_size("k", k, p.keys * p.depth);
  require_attention_size("v", v, p.keys * p.value_depth);
  if (!bias.empty()) require_attention_size("bias", bias, p.queries * p.keys);
  const auto at = [](std::span<const double> x, std::int64_t i) {
    return x[static_cast<std::size_t>(i)];
  };
  AttentionOracle result;
  for (std::int64_t i = 0; i < p.queries; ++i) {
    const std::int64_t last = p.causal ? i + p.keys - p.queries : p.keys - 1;
    const std::int64_t end = std::clamp<std::int64_t>(last + 1, 0, p.keys);
    const std::int64_t first =
        p.window > 0 ? std::clamp<std::int64_t>(last + 1 - p.window, 0, end) : 0;
    std::vector<double> scores;
    double condition = 0;
    for (std::int64_t j = first; j < end; ++j) {
      double score = 0;
      double magnitude = 0;
      for (std::int64_t d = 0; d < p.depth; ++d) {
        const double product = at(q, i * p.depth + d) * at(k, j * p.depth + d);
        score += product;
        magnitude += std::fabs(product);
      }
      const double addend = bias.empty() ? 0 : at(bias, i * p.keys + j);
      scores.push_back(p.scale * score + addend);
      if (std::isfinite(addend))
        condition = std::max(condition, std::fabs(p.scale) * magnitude + std::fabs(addend));
    }
    result.log_sum.push_back(log_sum_of(scores));
    result.query_condition.push_back(condition);
    const bool sees_none = result.log_sum.back() == -std::numeric_limits<double>::infinity();
    const std::vector<double> weights =
        sees_none ? std::vector<double>(scores.size())
                  : softmax_oracle(scores, 1, static_cast<std::int64_t>(scores.size())).value;
    for (std::int64_t d = 0; d < p.value_depth; ++d) {
      double sum = 0;
      double magnitude = 0;
      for (std::size_t j = 0; j < weights.size(); ++j) {
        const double term =
            weights[j] * at(v, (first + static_cast<std::int64_t>(j)) * p.value_depth + d);
        sum += term;
        magnitude += std::fabs(term);
      }
      result.value.push_back(sum);
      result.weighted_abs.push_back(magnitude);
      result.score_condition.push_back(condition);
    }
  }
  return result;
}

std::vector<double> rope_frequencies(std::int64_t depth, double base) {
  require(depth >= 0 && depth % 2 == 0,
          fmt::format("rope: depth is {}: pairs need an even number", depth));
  std::vector<double> frequencies;
  for (std::int64_t pair = 0; pair < depth / 2; ++pair)
    frequencies.push_back(round_to(
        Dtype::f32, std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(depth))));
  return frequencies;
}

RopeOracle rope_oracle(RopeLayout layout, std::span<const double> x,
                       std::span<const std::int64_t> positions,
                       std::span<const double> frequencies) {
  const std::size_t pairs = frequencies.size();
  require(x.size() == positions.size() * 2 * pairs,
          fmt::format("rope oracle: {} elements for {} positions of depth {}", x.size(),
                      positions.size(), 2 * pairs));
  RopeOracle result;
  for (auto* const part : {&result.value, &result.turned, &result.angle, &result.magnitude})
    part->resize(x.size());
  for (std::size_t row = 0; row < positions.size(); ++row) {
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      const bool half = layout == RopeLayout::half_split;
      const std::size_t first = row * 2 * pairs + (half ? pair : 2 * pair);
      const std::size_t second = first + (half ? pairs : 1);
      const double angle = static_cast<double>(positions[row]) * frequencies[pair];
      const double c = std::cos(angle);
      const double s = std::sin(angle);
      const auto store = [&](std::size_t at, double value, double turned) {
        result.value[at] = value;
        result.turned[at] = turned;
        result.angle[at] = std::fabs(angle);
        result.magnitude[at] = std::fabs(x[first]) + std::fabs(x[second]);
      };
      store(first, x[first] * c - x[second] * s,
            std::fabs(x[first] * c) + std::fabs(x[second] * s));
      store(second, x[second] * c + x[first] * s,
            std::fabs(x[second] * c) + std::fabs(x[first] * s));
    }
  }
  return result;
}

} // namespace kg::test
