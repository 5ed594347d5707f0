// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to cross_entropy_backward; its card configures those of every operation.
#include "ops/cross_entropy_backward/cross_entropy_backward.h"

#include "primitives/row_move.h"
#include "runtime/device.h"
#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/row_tests.h"
#include "tests/contract/rows.h"
#include "tests/ops/cross_entropy/objective.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_cross_entropy.h"

namespace kg::card {
namespace {

using namespace cross_entropy_cases;

KG_OWN_TEST(ManyRows) { check_many_rows(judge); }

// Rows and tiles beyond the blocks of the first grid.
KG_OWN_TEST(BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kRowBlocksPerSm;
  const std::int64_t tile = kRowThreads * kRowPacks * elements_per_pack(judge.dtype());
  judge.check({"normal", rows_cols(resident * 40, 3)}, {}, {"vectorized"});
  judge.check({"normal", rows_cols(resident + 1, tile + 5)}, {}, {"vectorized"});
}

KG_OWN_TEST(RowsAreIndependent) {
  for (const char* const shape : {"rows9_cols256", "rows5_cols2048_smooth_z_i64"})
    check_rows_are_independent(judge, shape);
}

// The derivative from finite differences of the forward oracle, in fp64. Its truncation error comes
// from the third derivative and is below dloss step^2.
KG_OWN_TEST(IsTheSlopeOfTheLoss) {
  constexpr double kStep = 1e-4;
  for (const char* const shape : {"rows6_cols41", "rows6_cols41_smooth_z_ignored"}) {
    const Sample sample{"normal", shape};
    const Problem p = problem_of(judge.card(), judge.dtype(), sample);
    const test::CrossEntropyProblem of_oracle = oracle_problem(p, rows_of(p));
    const Inputs inputs = completed(p, {});
    const std::vector<std::int64_t> target = targets_in(inputs.at("target"));
    const std::vector<double>& x = inputs.at("x").values;
    const std::vector<double> bounds = judge.card().references(p, inputs).at("dx").tolerance("");
    std::vector<double> slopes;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto row = i / static_cast<std::size_t>(cols_of(p));
      const auto loss = [&](double step) {
        std::vector<double> moved = x;
        moved[i] += step;
        return test::cross_entropy_oracle(of_oracle, moved, target).loss[row];
      };
      slopes.push_back(inputs.at("dloss").values[row] * (loss(kStep) - loss(-kStep)) / (2 * kStep));
    }
    judge.each_variant(sample, [&](const Variant& variant) {
      const test::Observed dx = judge.run(variant.name, sample).outputs.at("dx");
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double dloss = inputs.at("dloss").values[i / static_cast<std::size_t>(cols_of(p))];
        ASSERT_NEAR(dx.values[i], slopes[i], bounds[i] + std::fabs(dloss) * kStep * kStep)
            << variant.name << ": element " << i;
      }
    });
  }
}

// Probabilities and target weights both sum to 1, so a row's sum is the z-loss's part, with or
// without label smoothing.
KG_OWN_TEST(RowsSumToTheZLoss) {
  for (const char* const shape :
       {"rows9_cols300", "rows9_cols300_smooth", "rows5_cols2051_smooth_z"}) {
    const Sample sample{"normal", shape};
    const Problem p = problem_of(judge.card(), judge.dtype(), sample);
    const Inputs inputs = completed(p, {});
    const auto cols = static_cast<std::size_t>(cols_of(p));
    const std::vector<double> bounds = judge.card().references(p, inputs).at("dx").tolerance("");
    judge.each_variant(sample, [&](const Variant& variant) {
      const test::Observed dx = judge.run(variant.name, sample).outputs.at("dx");
      for (std::size_t row = 0; row < dx.values.size() / cols; ++row) {
        double sum = 0, bound = 0;
        for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) {
          sum += dx.values[i];
          bound += bounds[i];
        }
        const double log_sum = inputs.at("log_sum").values[row];
        const double dloss = inputs.at("dloss").values[row];
        // Rounding lse to f32 changes all probabilities by the same relative amount.
        bound += std::fabs(dloss) * unit_roundoff(Dtype::f32) * 2 * std::fabs(log_sum);
        EXPECT_NEAR(sum, dloss * 2 * p.scalars.at("z_loss") * log_sum, bound)
            << variant.name << ": row " << row;
      }
    });
  }
}

// If every row is ignored, all results are +0, for any other inputs.
KG_OWN_TEST(AllRowsIgnored) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t classes : {std::size_t{300}, std::size_t{2051}}) {
    constexpr std::size_t kRows = 7;
    Sample sample{"NaN", rows_cols(kRows, static_cast<std::int64_t>(classes)) + "_smooth_z_i64"};
    sample.inputs = {{"x", values(judge.dtype(), std::vector<double>(kRows * classes, nan))},
                     {"target", targets(grammar().parse(sample.shape),
                                        std::vector<std::int64_t>(kRows, kIgnored))},
                     {"log_sum", values(Dtype::f32, std::vector<double>(kRows, nan))},
                     {"dloss", values(Dtype::f32, std::vector<double>(kRows, nan))}};
    judge.each_variant(sample, [&](const Variant& variant) {
      EXPECT_EQ(judge.run(variant.name, sample).bits("dx"),
                std::vector<std::uint64_t>(kRows * classes, 0))
          << variant.name;
    });
  }
}

// Two rows of 64 logits, all 0, and the other inputs; the gradient is in the gaps between the rows.
template <class T>
struct Small {
  static constexpr std::int64_t kRows = 2, kClasses = 64;
  explicit Small(Stream& stream)
      : matrix(DeviceBuffer<T>::from_host(std::vector<T>(8 * kClasses), stream)),
        target(DeviceBuffer<std::int64_t>::from_host(std::vector<std::int64_t>{3, 63}, stream)),
        log_sum(DeviceBuffer<float>::from_host(std::vector<float>{4, 5}, stream)),
        dloss(DeviceBuffer<float>::from_host(std::vector<float>{1, 2}, stream)) {}

  cross_entropy_backward::Problem<T> problem() const {
    return {.rows = kRows,
            .classes = kClasses,
            .logits = matrix.data(),
            .logits_stride = 2 * kClasses,
            .objective = {.target = target.data()},
            .log_sum = log_sum.data(),
            .loss_gradient = dloss.data(),
            .gradient = matrix.data() + kClasses,
            .gradient_stride = 2 * kClasses};
  }

  DeviceBuffer<T> matrix;
  DeviceBuffer<std::int64_t> target;
  DeviceBuffer<float> log_sum, dloss;
};

KG_OWN_TEST(RowsLieInTheGapsOfOthers) {
  dispatch(judge.dtype(), [&]<class T>() {
    for (const auto variant : cross_entropy_backward::kVariants) {
      const Small<T> small(judge.stream());
      cross_entropy_backward::run(small.problem(), variant, judge.stream());
      const std::vector<T> after = small.matrix.to_host(judge.stream());
      for (std::size_t i = 0; i < after.size(); ++i) {
        const std::size_t row = i / 128, column = i % 128;
        const double probability = std::exp(-4.0 - static_cast<double>(row));
        const bool is_target = column == (row == 0 ? 64 + 3 : 64 + 63);
        const double expected =
            row > 1 || column < 64 ? 0 : (row == 0 ? 1 : 2) * (probability - (is_target ? 1 : 0));
        EXPECT_NEAR(test::to_double(after[i]), expected, std::fabs(expected) * 0x1p-8)
            << name(variant) << ": element " << i;
      }
    }
  });
}

KG_OWN_TEST(RefusesOtherProblems) {
  dispatch(judge.dtype(), [&]<class T>() {
    const Small<T> small(judge.stream());
    const auto refuses = refusing(small.problem(), [&](const auto& wrong) {
      cross_entropy_backward::run(wrong, cross_entropy_backward::Variant::automatic,
                                  judge.stream());
    });
    refuses("no classes", [](auto& wrong) { wrong.classes = 0; });
    refuses("rows that overlap", [](auto& wrong) { wrong.gradient_stride = 63; });
    refuses("logits that overlap", [](auto& wrong) { wrong.logits_stride = 63; });
    refuses("a gap that is too narrow", [](auto& wrong) { wrong.gradient -= 1; });
    refuses("a gap that begins too late", [](auto& wrong) { wrong.gradient += 1; });
    refuses("in place with another stride", [](auto& wrong) {
      wrong.gradient -= 64;
      wrong.gradient_stride = 64;
    });
    refuses("lse in the gradient",
            [](auto& wrong) { wrong.log_sum = reinterpret_cast<const float*>(wrong.gradient); });
  });
}

// No kernel compares with an out-of-range target.
KG_OWN_TEST(TargetOutOfRangeTraps) {
  if (backend == Backend::cuda) GTEST_SKIP() << "a trap takes the process's context with it";
  constexpr std::int64_t kWide = std::int64_t{1} << 32;
  dispatch(judge.dtype(), [&]<class T>() {
    for (const auto variant : cross_entropy_backward::kVariants)
      for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{64}, kWide + 1, 1 - kWide}) {
        Small<T> small(judge.stream());
        small.target = DeviceBuffer<std::int64_t>::from_host(std::vector<std::int64_t>{0, wrong},
                                                             judge.stream());
        const std::string text = error_of([&] {
          cross_entropy_backward::run(small.problem(), variant, judge.stream());
          judge.stream().synchronize();
        });
        EXPECT_NE(text.find("__trap() was called"), std::string::npos)
            << name(variant) << ", target " << wrong << ": " << text;
      }
  });
}

} // namespace
} // namespace kg::card
