// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention and rotary positions: the oracles' known answers and relations, and bounds between
// legal arithmetic and the usual mistakes.
#include "tests/oracle/oracle_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_attention.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

TEST(AttentionOracle, weights_by_hand) {
  // Scores 0 and log 3: weights 1/4 and 3/4.
  const AttentionProblem p{.queries = 1, .keys = 2, .depth = 1, .value_depth = 2, .scale = 0.5};
  const AttentionOracle o =
      attention_oracle(p, Values{2}, Values{0, std::log(3)}, Values{8, -4, 4, 4});
  EXPECT_NEAR(o.value[0], 5, 1e-14);
  EXPECT_NEAR(o.value[1], 2, 1e-14);
  EXPECT_NEAR(o.weighted_abs[1], 4, 1e-14);
  EXPECT_DOUBLE_EQ(o.score_condition[0], std::log(3));
}

TEST(AttentionOracle, equal_values_come_back_and_masks_hide_keys) {
  AttentionProblem p{.queries = 3, .keys = 5, .depth = 4, .value_depth = 2, .causal = true};
  const Values q = normal(Dtype::f32, 12, Tensor::a).values;
  const Values k = normal(Dtype::f32, 20, Tensor::b).values;
  for (const double value : attention_oracle(p, q, k, Values(10, 7)).value)
    EXPECT_NEAR(value, 7, 1e-13);
  // The first query sees keys 0 to 2: a NaN further on is not read.
  Values v = normal(Dtype::f32, 10, Tensor::c).values;
  const double before = attention_oracle(p, q, k, v).value[0];
  v[6] = std::nan("");
  const Values with_nan = attention_oracle(p, q, k, v).value;
  EXPECT_EQ(with_nan[0], before);
  EXPECT_TRUE(std::isnan(with_nan[2]));
  p.queries = 3;
  p.keys = 1; // the first two queries see nothing
  const Values blind = attention_oracle(p, q, Values(4, 1), Values{5, 6}).value;
  EXPECT_EQ(blind, (Values{0, 0, 0, 0, 5, 6}));
}

// A window of all keys hides none, one of a single key gives the query's own value; a bias of -inf
// hides a key as a mask does, and one of all keys gives what no key gives.
TEST(AttentionOracle, windows_and_biases) {
  AttentionProblem p{.queries = 3, .keys = 5, .depth = 4, .value_depth = 2, .causal = true};
  const Values q = normal(Dtype::f32, 12, Tensor::a).values;
  const Values k = normal(Dtype::f32, 20, Tensor::b).values;
  const Values v = normal(Dtype::f32, 10, Tensor::c).values;
  const AttentionOracle all = attention_oracle(p, q, k, v);
  p.window = 5;
  EXPECT_EQ(attention_oracle(p, q, k, v).value, all.value);
  p.window = 1;
  const AttentionOracle own = attention_oracle(p, q, k, v);
  EXPECT_EQ(own.value, Values(v.begin() + 4, v.end())); // keys 2 to 4
  p.window = 2;
  const Values two = attention_oracle(p, q, k, v).value;
  p.window = 0;
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  Values bias(15);
  for (std::size_t i = 0; i < 15; ++i)
    if (i % 5 < i / 5 + 1) bias[i] = kHidden; // before the window
  const Values hidden = attention_oracle(p, q, k, v, bias).value;
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(hidden[i], two[i], 1e-15);
  for (std::size_t i = 0; i < 5; ++i) bias[i] = kHidden;
  const AttentionOracle none = attention_oracle(p, q, k, v, bias);
  EXPECT_EQ(none.value[0], 0);
  EXPECT_EQ(none.log_sum[0], kHidden);
  bias[7] = 100; // query 1 sees little but key 2
  EXPECT_NEAR(attention_oracle(p, q, k, v, bias).value[2], v[4], 1e-12);
  EXPECT_GE(attention_oracle(p, q, k, v, bias).query_condition[1], 100);
}

// Scores 0 and log 3: the sum is 4. A constant more in each score is one more in the logarithm.
TEST(AttentionOracle, log_sum_by_hand) {
  const AttentionProblem p{.queries = 1, .keys = 2, .depth = 1, .value_depth = 1, .scale = 0.5};
  const Values k{0, std::log(3)}, v{1, 1};
  EXPECT_NEAR(attention_oracle(p, Values{2}, k, v).log_sum[0], std::log(4), 1e-15);
  EXPECT_NEAR(attention_oracle(p, Values{2}, k, v, Values{700, 700}).log_sum[0], 700 + std::log(4),
              1e-12);
  EXPECT_TRUE(std::isnan(attention_oracle(p, Values{2}, k, v, Values{0, std::nan("")}).log_sum[0]));
}

TEST(AttentionTolerance, is_what_its_formula_says) {
  constexpr double kTiny = 0x1p-150;
  expect_bound(Dtype::f32, 0.5, attention_f32_tolerance(0.8, 3, 64, 100),
               (2 * 16 * 3 + 29) * kU32 * 0.8 + kTiny);
  expect_bound(Dtype::f32, 0.5, attention_f32_tolerance(0.8, 3, 2, 100),
               (2 * 4 * 3 + 29) * kU32 * 0.8 + kTiny);
  expect_bound(Dtype::f32, -3, attention_log_sum_tolerance(Dtype::f32, -3, 2, 64, 100),
               (16 * 2 + 8 + 10.5 + 2 * 3 + 2) * kU32);
  expect_bound(Dtype::f32, -3, attention_log_sum_tolerance(Dtype::f16, -3, 2, 64, 100),
               ((16 + 2) * 2 + 8 + 10.5 + 2 * 3 + 2) * kU32);
  expect_bound(Dtype::bf16, 0.5, attention_xf16_tolerance(Dtype::bf16, 0.5, 0.8, 3, 64, 100),
               0.51 * 0x1p-8 + (2 * 16 * 3 + 29 + 2.5 * 7) * kU32 * 0.8 + kTiny + 0x1p-8 * 0.8);
  expect_bound(Dtype::f32, 0.5, rope_f32_tolerance(0.7, 40, 1.1, RopeAngles::computed),
               (4.2 + 44) * kU32 + kTiny);
  expect_bound(Dtype::f32, 0.5, rope_f32_tolerance(0.7, 40, 1.1, RopeAngles::table),
               4.2 * kU32 + kTiny);
}

constexpr AttentionProblem kHead{
    .queries = 20, .keys = 300, .depth = 64, .value_depth = 32, .scale = 0.125};

// The plain algorithm with `weight` and `sum` as the formats of p and of the sums over keys; `lag`
// keys less for a causal query.
Values emulated(const AttentionProblem& p, const Values& q, const Values& k, const Values& v,
                double (*weight)(double), double (*sum)(double), std::int64_t lag = 0,
                double scale = 0.125) {
  Values result;
  for (std::int64_t i = 0; i < p.queries; ++i) {
    const std::int64_t seen = (p.causal ? i + p.keys - p.queries + 1 : p.keys) - lag;
    std::vector<float> scores;
    for (std::int64_t j = 0; j < seen; ++j) {
      float dot = 0;
      for (std::int64_t d = 0; d < p.depth; ++d)
        dot += static_cast<float>(q[static_cast<std::size_t>(i * p.depth + d)]) *
               static_cast<float>(k[static_cast<std::size_t>(j * p.depth + d)]);
      scores.push_back(dot * static_cast<float>(scale));
    }
    const float most = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (float& score : scores) {
      score = std::exp(score - most);
      total = sum(total + score);
    }
    for (std::int64_t d = 0; d < p.value_depth; ++d) {
      double mixed = 0;
      for (std::int64_t j = 0; j < seen; ++j)
        mixed = sum(mixed + weight(scores[static_cast<std::size_t>(j)]) *
                                v[static_cast<std::size_t>(j * p.value_depth + d)]);
      result.push_back(static_cast<float>(mixed / total));
    }
  }
  return result;
}

double in_f32(double x) { return static_cast<float>(x); }
double in_f16(double x) { return round_to(Dtype::f16, x); }
double in_bf16(double x) { return round_to(Dtype::bf16, x); }

TEST(AttentionTolerance, separates_f32_from_half_weights_sums_and_a_shifted_mask) {
  for (const bool causal : {false, true}) {
    AttentionProblem p = kHead;
    p.causal = causal;
    const Values q = normal(Dtype::f32, p.queries * p.depth, Tensor::a).values;
    const Values k = normal(Dtype::f32, p.keys * p.depth, Tensor::b).values;
    const Values v = normal(Dtype::f32, p.keys * p.value_depth, Tensor::c).values;
    const AttentionOracle oracle = attention_oracle(p, q, k, v);
    Values tolerance;
    for (std::size_t i = 0; i < oracle.value.size(); ++i)
      tolerance.push_back(attention_f32_tolerance(oracle.weighted_abs[i], oracle.score_condition[i],
                                                  p.depth, p.keys));
    const auto accepted = [&](const Values& actual) {
      return judge(Dtype::f32, actual, oracle.value, tolerance).passed();
    };
    EXPECT_TRUE(accepted(emulated(p, q, k, v, in_f32, in_f32)));
    EXPECT_FALSE(accepted(emulated(p, q, k, v, in_f16, in_f32)));
    EXPECT_FALSE(accepted(emulated(p, q, k, v, in_f32, in_f16)));
    EXPECT_FALSE(accepted(emulated(p, q, k, v, in_f32, in_f32, 1)));
    EXPECT_FALSE(accepted(emulated(p, q, k, v, in_f32, in_f32, 0, 1.0)));
  }
}

// Inputs and weights in bf16, sums in f32; then sums in bf16.
TEST(AttentionTolerance, in_bf16_the_sums_stay_in_f32) {
  const AttentionProblem& p = kHead;
  const Values q = normal(Dtype::bf16, p.queries * p.depth, Tensor::a).values;
  const Values k = normal(Dtype::bf16, p.keys * p.depth, Tensor::b).values;
  const Values v = normal(Dtype::bf16, p.keys * p.value_depth, Tensor::c).values;
  const AttentionOracle oracle = attention_oracle(p, q, k, v);
  Values tolerance;
  for (std::size_t i = 0; i < oracle.value.size(); ++i)
    tolerance.push_back(attention_xf16_tolerance(Dtype::bf16, oracle.value[i],
                                                 oracle.weighted_abs[i], oracle.score_condition[i],
                                                 p.depth, p.keys));
  const auto accepted = [&](double (*sum)(double), std::int64_t lost) {
    Values stored = emulated(p, q, k, v, in_bf16, sum, lost);
    for (double& value : stored) value = in_bf16(value);
    return judge(Dtype::bf16, stored, oracle.value, tolerance).passed();
  };
  EXPECT_TRUE(accepted(in_f32, 0));
  EXPECT_FALSE(accepted(in_bf16, 0));
  EXPECT_FALSE(accepted(in_f32, 8));
}

TEST(RopeOracle, turns_pairs) {
  const Values frequencies = rope_frequencies(4, 10000);
  EXPECT_EQ(frequencies[0], 1);
  EXPECT_EQ(frequencies[1], round_to(Dtype::f32, 0.01));
  EXPECT_THROW(rope_frequencies(5, 10000), Error);
  const Values x = {1, 2, 3, 4};
  const std::vector<std::int64_t> start = {0}, later = {2};
  EXPECT_EQ(rope_oracle(RopeLayout::half_split, x, start, frequencies).value, x);
  const Values half = rope_oracle(RopeLayout::half_split, x, later, frequencies).value;
  EXPECT_DOUBLE_EQ(half[0], std::cos(2) - 3 * std::sin(2));
  EXPECT_DOUBLE_EQ(half[2], 3 * std::cos(2) + std::sin(2));
  const RopeOracle pairs = rope_oracle(RopeLayout::interleaved, x, later, frequencies);
  EXPECT_DOUBLE_EQ(pairs.value[0], std::cos(2) - 2 * std::sin(2));
  EXPECT_DOUBLE_EQ(pairs.value[3],
                   4 * std::cos(2 * frequencies[1]) + 3 * std::sin(2 * frequencies[1]));
  EXPECT_DOUBLE_EQ(pairs.turned[1], 2 * std::fabs(std::cos(2)) + std::sin(2));
  EXPECT_EQ(pairs.angle[0], 2);
  EXPECT_EQ(pairs.magnitude[3], 7);
}

// Norms stay, and so do products of queries and keys of equal distance.
TEST(RopeOracle, relations) {
  const Values frequencies = rope_frequencies(64, 1e6);
  const Values x = normal(Dtype::f32, 128, Tensor::a).values;
  const auto product = [&](std::int64_t first, std::int64_t second) {
    const std::vector<std::int64_t> positions = {first, second};
    const Values y = rope_oracle(RopeLayout::half_split, x, positions, frequencies).value;
    double sum = 0;
    for (std::size_t i = 0; i < 64; ++i) sum += y[i] * y[64 + i];
    return sum;
  };
  EXPECT_NEAR(product(3, 40), product(1003, 1040), 1e-9);
  EXPECT_GT(std::fabs(product(3, 40) - product(4, 40)), 1e-3);
}

TEST(RopeTolerance, separates_f32_from_a_shifted_position_and_a_coarse_angle) {
  const Values frequencies = rope_frequencies(64, 10000);
  const std::vector<std::int64_t> positions = {0, 1, 40, 2000, 32767, 131071};
  const Values x = normal(Dtype::f32, 6 * 64, Tensor::a).values;
  const RopeOracle oracle = rope_oracle(RopeLayout::half_split, x, positions, frequencies);
  const auto accepted = [&](RopeAngles angles, auto angle_of) {
    Values actual(x.size()), tolerance;
    for (std::size_t row = 0; row < positions.size(); ++row) {
      for (std::size_t pair = 0; pair < 32; ++pair) {
        const double angle =
            angle_of(static_cast<float>(positions[row]), static_cast<float>(frequencies[pair]));
        const auto c = static_cast<float>(std::cos(angle));
        const auto s = static_cast<float>(std::sin(angle));
        const auto first = static_cast<float>(x[row * 64 + pair]);
        const auto second = static_cast<float>(x[row * 64 + 32 + pair]);
        actual[row * 64 + pair] = first * c - second * s;
        actual[row * 64 + 32 + pair] = second * c + first * s;
      }
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      tolerance.push_back(
          rope_f32_tolerance(oracle.turned[i], oracle.angle[i], oracle.magnitude[i], angles));
    return judge(Dtype::f32, actual, oracle.value, tolerance).passed();
  };
  const auto rounded = [](float position, float frequency) -> double {
    return position * frequency;
  };
  const auto exact = [](float position, float frequency) {
    return static_cast<double>(position) * frequency;
  };
  EXPECT_TRUE(accepted(RopeAngles::computed, rounded));
  EXPECT_TRUE(accepted(RopeAngles::table, exact));
  EXPECT_FALSE(accepted(RopeAngles::table, rounded)); // sees angles that were rounded on the way
  EXPECT_FALSE(accepted(RopeAngles::computed, [](float position, float frequency) -> double {
    return (position + 1) * frequency;
  }));
  // A reduction by a short pi, as a fast sine does: 2^-21 of a turn per turn.
  EXPECT_FALSE(accepted(RopeAngles::computed, [](float position, float frequency) -> double {
    const double angle = position * frequency;
    return angle * (1 + 0x1p-21);
  }));
}

} // namespace
} // namespace kg::test
