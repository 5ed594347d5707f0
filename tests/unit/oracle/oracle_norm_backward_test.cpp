// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of the normalisations against numerical differentiation of the forward oracles, and
// bounds between legal f32 arithmetic and the usual mistakes.
#include "tests/oracle/oracle_norm_backward.h"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

// A problem whose statistics are exact in fp64.
struct Problem {
  std::int64_t rows;
  std::int64_t columns;
  bool centred;
  double epsilon;
  Values dy, x, gamma, beta, mean, rstd;

  NormOracle forward() const {
    return centred ? layer_norm_oracle(x, rows, columns, gamma, beta, epsilon)
                   : rms_norm_oracle(x, rows, columns, gamma, epsilon);
  }
  NormBackwardOracle backward() const {
    return norm_backward_oracle(dy, x, rows, columns, gamma, mean, rstd);
  }
  // What the gradients are those of: sum of dy y.
  double loss() const {
    const NormOracle y = forward();
    double sum = 0;
    for (std::size_t i = 0; i < dy.size(); ++i) sum += dy[i] * y.value[i];
    return sum;
  }
};

Problem problem(std::int64_t rows, std::int64_t columns, bool centred, double epsilon) {
  const auto values = [](std::int64_t count, Tensor tensor, std::uint64_t salt) {
    return normal(Dtype::f32, count, tensor, seed() + salt).values;
  };
  Problem p{rows,
            columns,
            centred,
            epsilon,
            values(rows * columns, Tensor::a, 0),
            values(rows * columns, Tensor::b, 0),
            values(columns, Tensor::c, 0),
            values(columns, Tensor::c, 1),
            {},
            {}};
  for (double& value : p.x) value += 0.5; // else rms and layer hardly differ
  const Values means = row_means_oracle(p.x, rows, columns).value;
  if (centred) p.mean = means;
  for (std::int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      const double centred_x = p.x[static_cast<std::size_t>(r * columns + c)] -
                               (centred ? means[static_cast<std::size_t>(r)] : 0);
      squares += centred_x * centred_x;
    }
    p.rstd.push_back(1 / std::sqrt(squares / static_cast<double>(columns) + epsilon));
  }
  return p;
}

// (f(v + h) - f(v - h)) / 2 h errs by h^2 and by the rounding of f over h: 1e-9 of f here.
double derivative(double& value, const std::function<double()>& f) {
  constexpr double kStep = 1e-5;
  const double before = value;
  value = before + kStep;
  const double above = f();
  value = before - kStep;
  const double below = f();
  value = before;
  return (above - below) / (2 * kStep);
}

TEST(NormBackward, gradients_are_those_of_the_forward_oracle) {
  for (const bool centred : {false, true})
    for (const double epsilon : {0.0, 0.3}) {
      Problem p = problem(3, 7, centred, epsilon);
      const NormBackwardOracle gradient = p.backward();
      const auto agree = [&](Values& arguments, const Values& gradients, const char* what) {
        ASSERT_EQ(arguments.size(), gradients.size());
        for (std::size_t i = 0; i < arguments.size(); ++i)
          EXPECT_NEAR(gradients[i], derivative(arguments[i], [&] { return p.loss(); }), 1e-7)
              << what << " " << i << (centred ? " layer" : " rms") << ", epsilon " << epsilon;
      };
      agree(p.x, gradient.dx, "dx");
      agree(p.gamma, gradient.dgamma, "dgamma");
      if (centred) agree(p.beta, gradient.dbeta, "dbeta");
    }
}

// Moving a row changes no layer normalisation, scaling it neither (epsilon 0): so the gradient has
// no part in those directions.
TEST(NormBackward, gradients_are_orthogonal_to_what_changes_nothing) {
  for (const bool centred : {false, true}) {
    const Problem p = problem(4, 50, centred, 0);
    const NormBackwardOracle gradient = p.backward();
    for (std::size_t r = 0; r < 4; ++r) {
      double along_ones = 0, along_x = 0;
      for (std::size_t c = 0; c < 50; ++c) {
        along_ones += gradient.dx[r * 50 + c];
        along_x += gradient.dx[r * 50 + c] * p.x[r * 50 + c];
      }
      EXPECT_NEAR(along_x, 0, 1e-12);
      if (centred) {
        EXPECT_NEAR(along_ones, 0, 1e-12);
      }
    }
  }
}

TEST(NormBackward, known_answers) {
  // Two columns and epsilon 0: the result is 1 and -1 whatever x is.
  const NormBackwardOracle layer =
      norm_backward_oracle(Values{3, 5}, Values{8, 4}, 1, 2, {}, Values{6}, Values{0.5});
  EXPECT_EQ(layer.dx, (Values{0, 0}));
  EXPECT_EQ(layer.dgamma, (Values{3, -5}));
  EXPECT_EQ(layer.dbeta, (Values{3, 5}));
  EXPECT_EQ(layer.average, (Values{2, 2}));
  EXPECT_EQ(layer.projection, (Values{2, 2}));
  // n = 1, 2; g = 6, 5; mean(g n) = 8; dx = g - 8 n, times rstd.
  const NormBackwardOracle rms =
      norm_backward_oracle(Values{3, 5}, Values{2, 4}, 1, 2, Values{2, 1}, {}, Values{0.5});
  EXPECT_EQ(rms.dx, (Values{-1, -5.5}));
  EXPECT_EQ(rms.direct, (Values{3, 2.5}));
  EXPECT_EQ(rms.average, (Values{0, 0}));
  EXPECT_EQ(rms.projection, (Values{4, 8}));
  EXPECT_TRUE(norm_backward_oracle({}, {}, 0, 2, {}, {}, {}).dx.empty());
  EXPECT_EQ(norm_backward_oracle({}, {}, 0, 2, {}, {}, {}).dgamma, (Values{0, 0}));
  EXPECT_THROW(norm_backward_oracle(Values{1}, Values{1}, 1, 1, {}, {}, {}), Error);
  EXPECT_THROW(norm_backward_oracle(Values{1}, Values{1, 2}, 1, 1, {}, {}, Values{1}), Error);
}

TEST(NormBackward, bounds_by_hand) {
  expect_bound(Dtype::f32, 10, norm_backward_dx_f32_tolerance(10, 3, 2, 16),
               kU32 * (5 * 10 + 20 * 3 + 22 * 2) + 0x1p-150);
  expect_bound(Dtype::f32, 10, norm_backward_column_f32_tolerance(40, 16),
               kU32 * 16 * 40 + 0x1p-150);
}

// dx as a kernel forms it in f32, one element after the other; `spoil` may change the sums.
Values f32_dx(const Problem& p, const std::function<void(float&, float&)>& spoil) {
  Values result;
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const auto at = [&](const Values& v, std::int64_t c) {
      return static_cast<float>(v[static_cast<std::size_t>(r * p.columns + c)]);
    };
    const auto gamma = [&](std::int64_t c) {
      return static_cast<float>(p.gamma[static_cast<std::size_t>(c)]);
    };
    const float mean = p.centred ? static_cast<float>(p.mean[static_cast<std::size_t>(r)]) : 0.0f;
    const auto rstd = static_cast<float>(p.rstd[static_cast<std::size_t>(r)]);
    const auto n = static_cast<float>(p.columns);
    float sum = 0, dot = 0;
    for (std::int64_t c = 0; c < p.columns; ++c) {
      const float g = at(p.dy, c) * gamma(c);
      sum += p.centred ? g : 0;
      dot += g * ((at(p.x, c) - mean) * rstd);
    }
    sum /= n;
    dot /= n;
    spoil(sum, dot);
    for (std::int64_t c = 0; c < p.columns; ++c)
      result.push_back(rstd * (at(p.dy, c) * gamma(c) - sum - (at(p.x, c) - mean) * rstd * dot));
  }
  return result;
}

TEST(NormBackward, bounds_accept_f32_and_reject_mistakes) {
  for (const bool centred : {false, true})
    for (const std::int64_t columns : {3, 100, 4000}) {
      Problem p = problem(5, columns, centred, 1e-5);
      for (double& value : p.mean) value = static_cast<float>(value); // as they are stored
      for (double& value : p.rstd) value = static_cast<float>(value);
      const NormBackwardOracle right = p.backward();
      Values tolerance;
      for (std::size_t i = 0; i < right.dx.size(); ++i)
        tolerance.push_back(norm_backward_dx_f32_tolerance(right.direct[i], right.average[i],
                                                           right.projection[i], columns));
      const auto failed = [&](const std::function<void(float&, float&)>& spoil) {
        return judge(Dtype::f32, f32_dx(p, spoil), right.dx, tolerance).failed;
      };
      EXPECT_EQ(failed([](float&, float&) {}), 0) << columns;
      const std::int64_t most = 5 * columns / 2;
      EXPECT_GT(failed([](float&, float& dot) { dot = 0; }), most) << columns;
      // A mean over one element too many: of thousands it is legal rounding.
      const auto shorter = static_cast<float>(columns) / static_cast<float>(columns + 1);
      if (columns < 1000) {
        EXPECT_GT(failed([&](float&, float& dot) { dot *= shorter; }), 0) << columns;
      }
      if (!centred) continue;
      EXPECT_GT(failed([](float& sum, float&) { sum = 0; }), most) << columns;
    }
}

} // namespace
} // namespace kg::test
