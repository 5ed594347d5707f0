// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_attention_backward.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "runtime/error.h"

namespace kg::test {
namespace {

void require_gradient_size(const char* what, std::span<const double> values, std::int64_t size) {
  require(static_cast<std::int64_t>(values.size()) == size,
          fmt::format("attention backward oracle: {} has {} elements, not {}", what, values.size(),
                      size));
}

struct Product {
  double value = 0, magnitude = 0;
};
Product product(std::span<const double> a, std::span<const double> b) {
  Product result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    result.value += a[i] * b[i];
    result.magnitude += std::fabs(a[i] * b[i]);
  }
  return result;
}

// For one pair: a weight or a score gradient, and its error terms.
struct Coefficient {
  double value, score, product;
};
void add(AttentionGradient& to, std::int64_t row, const Coefficient& by,
         std::span<const double> factor, double scale) {
  auto at = static_cast<std::size_t>(row) * factor.size();
  for (const double each : factor) {
    const double term = by.value * (scale * each);
    to.value[at] += term;
    to.terms[at] += std::fabs(term);
    to.scores[at] += std::fabs(term) * by.score;
    to.products[at] += std::fabs(by.product * (scale * each));
    to.factors[at++] += std::fabs(scale * each);
  }
}

} // namespace

namespace {

constexpr std::vector<double> AttentionGradient::*kParts[] = {
    &AttentionGradient::value, &AttentionGradient::terms, &AttentionGradient::scores,
    &AttentionGradient::products, &AttentionGradient::factors};

} // namespace

AttentionGradient::AttentionGradient(std::int64_t size) {
  for (const auto each : kParts) (this->*each).resize(static_cast<std::size_t>(size));
}

AttentionGradient AttentionGradient::part(std::int64_t first, std::int64_t count) const {
  AttentionGradient result;
  for (const auto each : kParts)
    (result.*each).assign((this->*each).begin() + first, (this->*each).begin() + first + count);
  return result;
}

void AttentionGradient::append(const AttentionGradient& more) {
  for (const auto each : kParts)
    (this->*each).insert((this->*each).end(), (more.*each).begin(), (more.*each).end());
}

void AttentionGradient::add(std::int64_t first, const AttentionGradient& other) {
  for (const auto each : kParts)
    for (std::size_t i = 0; i < (other.*each).size(); ++i)
      (this->*each)[static_cast<std::size_t>(first) + i] += (other.*each)[i];
}

AttentionBackwardOracle attention_backward_oracle(const AttentionProblem& p,
                                                  const AttentionBackwardInputs& in) {
  require_gradient_size("q", in.q, p.queries * p.depth);
  require_gradient_size("k", in.k, p.keys * p.depth);
  require_gradient_size("v", in.v, p.keys * p.value_depth);
  require_gradient_size("out", in.out, p.queries * p.value_depth);
  require_gradient_size("log_sum", in.log_sum, p.queries);
  require_gradient_size("dout", in.dout, p.queries * p.value_depth);
  if (!in.bias.empty()) require_gradient_size("bias", in.bias, p.queries * p.keys);
  const auto row = [](std::span<const double> x, std::int64_t i, std::int64_t length) {
    return x.subspan(static_cast<std::size_t>(i * length), static_cast<std::size_t>(length));
  };
  AttentionBackwardOracle result{AttentionGradient(p.queries * p.depth),
                                 AttentionGradient(p.keys * p.depth),
                                 AttentionGradient(p.keys * p.value_depth)};
  for (std::int64_t i = 0; i < p.queries; ++i) {
    const auto q = row(in.q, i, p.depth), dout = row(in.dout, i, p.value_depth);
    const Product delta = product(dout, row(in.out, i, p.value_depth));
    const double log_sum = in.log_sum[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < p.keys; ++j) {
      const std::int64_t behind = i + p.keys - p.queries - j; // 0: the query's own key
      if (p.causal && (behind < 0 || (p.window > 0 && behind >= p.window))) continue;
      const auto k = row(in.k, j, p.depth);
      const double bias = in.bias.empty() ? 0 : in.bias[static_cast<std::size_t>(i * p.keys + j)];
      const Product score = product(q, k), by_weight = product(dout, row(in.v, j, p.value_depth));
      const double weight = log_sum == -std::numeric_limits<double>::infinity()
                                ? 0
                                : std::exp(p.scale * score.value + bias - log_sum);
      const double condition =
          weight == 0 ? 0 : p.scale * score.magnitude + std::fabs(bias) + std::fabs(log_sum);
      const Coefficient ds{weight * (by_weight.value - delta.value), condition,
                           weight * (by_weight.magnitude + delta.magnitude)};
      add(result.dq, i, ds, k, p.scale);
      add(result.dk, j, ds, q, p.scale);
      add(result.dv, j, {weight, condition, 0}, dout, 1);
    }
  }
  return result;
}

} // namespace kg::test
