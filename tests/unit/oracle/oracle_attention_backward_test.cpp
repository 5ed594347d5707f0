// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of attention: the oracle beside differences of the forward one, and bounds between
// legal arithmetic and the usual mistakes.
#include "tests/oracle/oracle_attention_backward.h"

#include <cmath>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_attention.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// One query and two keys of scores 0 and log 3: weights 1/4 and 3/4. <dout, v> is 8 and 4, delta
// 5, dS 3/4 and -3/4.
TEST(AttentionBackwardOracle, known_answers) {
  const AttentionProblem p{.queries = 1, .keys = 2, .depth = 1, .value_depth = 1, .scale = 0.5};
  const Values q{2}, k{0, std::log(3)}, v{8, 4}, out{5}, dout{1}, log_sum{std::log(4)};
  const AttentionBackwardOracle o = attention_backward_oracle(p, {q, k, v, out, log_sum, dout});
  EXPECT_NEAR(o.dv.value[0], 0.25, 1e-15);
  EXPECT_NEAR(o.dv.value[1], 0.75, 1e-15);
  EXPECT_NEAR(o.dk.value[0], 0.75, 1e-15);
  EXPECT_NEAR(o.dk.value[1], -0.75, 1e-15);
  EXPECT_NEAR(o.dq.value[0], -0.375 * std::log(3), 1e-15);
  EXPECT_NEAR(o.dq.factors[0], 0.5 * std::log(3), 1e-15);
  EXPECT_NEAR(o.dk.products[0], 0.25 * (8 + 5), 1e-15);
  EXPECT_NEAR(o.dv.scores[1], 0.75 * (std::log(3) + std::log(4)), 1e-15);
  const AttentionBackwardOracle none =
      attention_backward_oracle(p, {q, k, v, out, Values{-kInfinity}, dout});
  EXPECT_EQ(none.dv.value, (Values{0, 0}));
  EXPECT_EQ(none.dq.value, (Values{0}));
  EXPECT_THROW(attention_backward_oracle(p, {q, k, v, out, {}, dout}), Error);
}

// Each gradient by differences of the forward oracle, one after the other: its product with a
// direction is the slope of <dout, out> along it.
TEST(AttentionBackwardOracle, is_the_slope_of_the_forward_oracle) {
  constexpr double kStep = 1e-5;
  for (const std::int64_t window : {-1, 0, 3}) {
    for (const bool biased : {false, true}) {
      const AttentionProblem p{.queries = 5,
                               .keys = 7,
                               .depth = 6,
                               .value_depth = 4,
                               .scale = 0.4,
                               .causal = window >= 0,
                               .window = window < 0 ? 0 : window};
      const Values q = normal(Dtype::f32, 30, Tensor::a).values;
      const Values k = normal(Dtype::f32, 42, Tensor::b).values;
      const Values v = normal(Dtype::f32, 28, Tensor::c).values;
      const Values dout = normal(Dtype::f32, 20, Tensor{4}).values;
      const Values bias = biased ? normal(Dtype::f32, 35, Tensor{5}).values : Values();
      const auto forward = [&](const Values& q, const Values& k, const Values& v) {
        return attention_oracle(p, q, k, v, bias);
      };
      const AttentionOracle at = forward(q, k, v);
      const AttentionBackwardOracle gradient =
          attention_backward_oracle(p, {q, k, v, at.value, at.log_sum, dout, bias});
      const auto slope = [&](double dq, double dk, double dv) {
        const auto moved = [](Values x, double step, Tensor direction) {
          const Values along = normal(Dtype::f32, std::ssize(x), direction).values;
          for (std::size_t i = 0; i < x.size(); ++i) x[i] += step * along[i];
          return x;
        };
        const auto loss = [&](double step) {
          return dot(dout, forward(moved(q, step * dq, Tensor{6}), moved(k, step * dk, Tensor{6}),
                                   moved(v, step * dv, Tensor{6}))
                               .value);
        };
        return (loss(kStep) - loss(-kStep)) / (2 * kStep);
      };
      const auto along = [](const AttentionGradient& gradient) {
        return dot(gradient.value,
                   normal(Dtype::f32, std::ssize(gradient.value), Tensor{6}).values);
      };
      EXPECT_NEAR(along(gradient.dq), slope(1, 0, 0), 1e-8);
      EXPECT_NEAR(along(gradient.dk), slope(0, 1, 0), 1e-8);
      EXPECT_NEAR(along(gradient.dv), slope(0, 0, 1), 1e-8);
    }
  }
}

TEST(AttentionBackwardOracle, parts_of_gradients) {
  AttentionGradient all(3), other(2);
  all.value = {1, 2, 3};
  other.value = {30, 50};
  other.factors = {7, 1};
  all.add(1, other);
  EXPECT_EQ(all.value, (Values{1, 32, 53}));
  EXPECT_EQ(all.factors, (Values{0, 7, 1}));
  EXPECT_EQ(all.part(1, 2).value, (Values{32, 53}));
  other.append(all.part(0, 1));
  EXPECT_EQ(other.value, (Values{30, 50, 1}));
  EXPECT_EQ(other.terms, (Values{0, 0, 0}));
}

TEST(AttentionGradientTolerance, is_what_its_formula_says) {
  constexpr double kTiny = 0x1p-150;
  AttentionGradientElement e{.value = 0.5,
                             .terms = 0.8,
                             .scores = 3,
                             .products = 2,
                             .factors = 50,
                             .depth = 64,
                             .value_depth = 2,
                             .chain = 100};
  expect_bound(Dtype::f32, 0.5, attention_gradient_f32_tolerance(e),
               kU32 * (19 * 3 + 4 * 2 + 26 * 0.8) + kTiny);
  const double more = kU32 * (2 * 3 + 0.25 * std::sqrt(2) * 2 + 2.5 * 0.8);
  expect_bound(Dtype::bf16, 0.5, attention_gradient_xf16_tolerance(Dtype::bf16, e),
               0.51 * 0x1p-8 + kU32 * (19 * 3 + 4 * 2 + 26 * 0.8) + kTiny + more + 0x1p-8 * 0.8 +
                   0x1p-134 * 50);
}

constexpr AttentionProblem kHead{
    .queries = 60, .keys = 90, .depth = 64, .value_depth = 32, .scale = 0.125, .causal = true};

// dQ by the plain algorithm, with `format` as the format of dS and `sum` as that of the sums over
// keys; `lag` keys less, and delta left out.
struct Mistake {
  double (*format)(double);
  double (*sum)(double);
  std::int64_t lag = 0;
  bool without_delta = false;
};
double in_f32(double x) { return static_cast<float>(x); }
double in_f16(double x) { return round_to(Dtype::f16, x); }

Values emulated(const AttentionBackwardInputs& in, const Mistake& mistake) {
  const AttentionProblem& p = kHead;
  const auto inner = [](std::span<const double> a, std::int64_t i, std::span<const double> b,
                        std::int64_t j, std::int64_t length) {
    float sum = 0;
    for (std::int64_t d = 0; d < length; ++d)
      sum += static_cast<float>(a[static_cast<std::size_t>(i * length + d)] *
                                b[static_cast<std::size_t>(j * length + d)]);
    return sum;
  };
  Values result;
  for (std::int64_t i = 0; i < p.queries; ++i) {
    const float delta = mistake.without_delta ? 0 : inner(in.dout, i, in.out, i, p.value_depth);
    Values sums(static_cast<std::size_t>(p.depth));
    for (std::int64_t j = 0; j <= i + p.keys - p.queries - mistake.lag; ++j) {
      const float weight = std::exp(inner(in.q, i, in.k, j, p.depth) * static_cast<float>(p.scale) -
                                    static_cast<float>(in.log_sum[static_cast<std::size_t>(i)]));
      const double ds =
          mistake.format(weight * (inner(in.dout, i, in.v, j, p.value_depth) - delta));
      for (std::size_t d = 0; d < sums.size(); ++d)
        sums[d] = mistake.sum(sums[d] + ds * in.k[static_cast<std::size_t>(j * p.depth) + d]);
    }
    for (const double sum : sums) result.push_back(in_f32(sum * p.scale));
  }
  return result;
}

TEST(AttentionGradientTolerance, separates_f32_from_half_a_shifted_mask_and_a_lost_delta) {
  const AttentionProblem& p = kHead;
  const Values q = normal(Dtype::f32, p.queries * p.depth, Tensor::a).values;
  const Values k = normal(Dtype::f32, p.keys * p.depth, Tensor::b).values;
  const Values v = normal(Dtype::f32, p.keys * p.value_depth, Tensor::c).values;
  const Values dout = normal(Dtype::f32, p.queries * p.value_depth, Tensor{4}).values;
  AttentionOracle forward = attention_oracle(p, q, k, v);
  for (auto* const stored : {&forward.value, &forward.log_sum})
    for (double& value : *stored) value = in_f32(value);
  const AttentionBackwardInputs in{q, k, v, forward.value, forward.log_sum, dout};
  const AttentionGradient dq = attention_backward_oracle(p, in).dq;
  Values bounds;
  for (std::size_t i = 0; i < dq.value.size(); ++i)
    bounds.push_back(
        attention_gradient_f32_tolerance({dq.value[i], dq.terms[i], dq.scores[i], dq.products[i],
                                          dq.factors[i], p.depth, p.value_depth, p.keys}));
  const auto accepted = [&](const Mistake& mistake) {
    return judge(Dtype::f32, emulated(in, mistake), dq.value, bounds).passed();
  };
  EXPECT_TRUE(accepted({in_f32, in_f32}));
  EXPECT_FALSE(accepted({in_f16, in_f32}));
  EXPECT_FALSE(accepted({in_f32, in_f16}));
  EXPECT_FALSE(accepted({in_f32, in_f32, 1}));
  EXPECT_FALSE(accepted({in_f32, in_f32, 0, true}));
}

} // namespace
} // namespace kg::test
