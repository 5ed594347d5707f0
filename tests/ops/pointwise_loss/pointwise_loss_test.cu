// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to pointwise_loss; its card configures those of every operation.
#include "ops/pointwise_loss/pointwise_loss.h"

#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_pointwise_loss.h"

namespace kg::card {
namespace {

using pointwise_loss::Kind;

// The derivative from finite differences of the loss's oracle, in fp64; away from huber's corners,
// where the second derivative jumps.
KG_OWN_TEST(IsTheSlopeOfTheLoss) {
  constexpr double kStep = 1e-4, kDelta = 0.75;
  constexpr std::int64_t kN = 999;
  for (const Kind kind : pointwise_loss::kKinds) {
    const Sample sample{"normal", std::string(name(kind)) + "_back_n" + std::to_string(kN)};
    const Problem p = problem_of(judge.card(), judge.dtype(), sample);
    const Inputs inputs = completed(p, {});
    const std::vector<double>& x = inputs.at("x").values;
    const std::vector<double>& t = inputs.at("target").values;
    const std::vector<double>& dloss = inputs.at("dloss").values;
    const std::vector<double> bounds = judge.card().references(p, inputs).at("dx").tolerance("");
    judge.each_variant(sample, [&](const Variant& variant) {
      const test::Observed dx = judge.run(variant.name, sample).outputs.at("dx");
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::fabs(std::fabs(x[i] - t[i]) - kDelta) < 2 * kStep) continue;
        const auto loss = [&](double step) {
          return test::loss_oracle(kind, x[i] + step, t[i], kDelta).value;
        };
        const double slope = dloss[i] * (loss(kStep) - loss(-kStep)) / (2 * kStep);
        ASSERT_NEAR(dx.values[i], slope, bounds[i] + std::fabs(dloss[i]) * kStep * kStep)
            << name(kind) << " " << variant.name << ": element " << i;
      }
    });
  }
}

// A perfect prediction costs nothing; for bce it costs the entropy of its target.
KG_OWN_TEST(LeastAtTheTarget) {
  for (const Kind kind : {Kind::mse, Kind::huber}) {
    const std::vector<double> x = test::normal(judge.dtype(), 500, test::Tensor::a).values;
    const Sample sample{"equal",
                        std::string(name(kind)) + "_n500",
                        {{"x", values(judge.dtype(), x)}, {"target", values(judge.dtype(), x)}}};
    judge.each_variant(sample, [&](const Variant& variant) {
      EXPECT_EQ(judge.run(variant.name, sample).bits("loss"), std::vector<std::uint64_t>(500, 0))
          << name(kind) << " " << variant.name;
    });
  }
  const Sample half{"halves",
                    "bce_n8",
                    {{"x", values(judge.dtype(), std::vector<double>(8, 0))},
                     {"target", values(judge.dtype(), std::vector<double>(8, 0.5))}}};
  judge.each_variant(half, [&](const Variant& variant) {
    const Outcome outcome = judge.run(variant.name, half);
    for (const double loss : outcome.outputs.at("loss").values)
      EXPECT_NEAR(loss, std::log(2), unit_roundoff(judge.dtype())) << variant.name;
  });
}

// Within delta, huber is half of mse; with a delta that no element reaches, everywhere.
KG_OWN_TEST(HuberIsHalfOfMse) {
  constexpr std::int64_t kN = 3001;
  const test::Observed x =
      values(judge.dtype(), test::normal(judge.dtype(), kN, test::Tensor::a).values);
  const test::Observed t =
      values(judge.dtype(), test::normal(judge.dtype(), kN, test::Tensor::b).values);
  Sample huber{"normal", "huber_n3001", {{"x", x}, {"target", t}}};
  huber.scalars = {{"delta", 100}};
  const Sample mse{"normal", "mse_n3001", {{"x", x}, {"target", t}}};
  judge.each_variant(mse, [&](const Variant& variant) {
    const std::vector<double> whole = judge.run(variant.name, mse).outputs.at("loss").values;
    const std::vector<double> half = judge.run(variant.name, huber).outputs.at("loss").values;
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (whole[i] > 0x1p-10) { // not subnormal
        ASSERT_EQ(half[i], whole[i] / 2) << variant.name << ": element " << i;
      }
  });
}

KG_OWN_TEST(RefusesOtherProblems) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> memory(64);
    const pointwise_loss::Problem<T> valid{.direction = pointwise_loss::Direction::backward,
                                           .n = 16,
                                           .x = memory.data(),
                                           .target = memory.data() + 16,
                                           .loss_gradient = memory.data() + 32,
                                           .result = memory.data() + 48};
    const auto refuses = refusing(valid, [&](const auto& wrong) {
      pointwise_loss::run(wrong, pointwise_loss::Variant::automatic, judge.stream());
    });
    refuses("no dloss", [](auto& wrong) { wrong.loss_gradient = nullptr; });
    refuses("a result in dloss in part", [](auto& wrong) { wrong.result -= 1; });
    refuses("fewer than none", [](auto& wrong) { wrong.n = -1; });
    pointwise_loss::Problem<T> forward = valid; // needs no dloss
    forward.direction = pointwise_loss::Direction::forward;
    forward.loss_gradient = nullptr;
    forward.n = 0;
    EXPECT_NO_THROW(
        pointwise_loss::run(forward, pointwise_loss::Variant::automatic, judge.stream()));
  });
}

} // namespace
} // namespace kg::card
