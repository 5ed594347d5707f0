// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/models/trained.h"

#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Execution;
using models::Phase;
using models::Purpose;

constexpr models::MlpConfig kSmall{.dim = 24, .layers = 3, .batch = 10};

// The same function of the weights in both types; inputs are those that the execution holds.
ReferenceLoss loss_of(const Execution& execution, const models::MlpConfig& config) {
  const std::vector<float> x = execution.read(execution.tape().named("x"));
  const std::vector<float> target = execution.read(execution.tape().named("target"));
  const auto loss = [=]<class T>(const Weights<T>& weights) {
    Rows<T> rows;
    for (auto at = x.begin(); at != x.end(); at += config.dim)
      rows.emplace_back(at, at + config.dim);
    return reference::squared_error(
        reference::mlp(weights, static_cast<std::size_t>(config.layers), std::move(rows)), target);
  };
  return {[=](const Weights<double>& w) { return loss(w); },
          [=](const Weights<Scalar>& w) { return loss(w); }};
}

struct Trained {
  Stream stream;
  models::Model model = models::mlp(kSmall, Purpose::training);
  Execution execution = [this] {
    keep_gradients(model.tape);
    return Execution(std::move(model.tape), stream);
  }();
  Trained() {
    models::initialise(execution, 1);
    model.fill_inputs(execution, 2);
  }
};

TEST(Mlp, OutputsAreThoseOfTheReference) {
  constexpr models::MlpConfig kConfig{.dim = 64, .layers = 4, .batch = 48};
  Stream stream;
  models::Model model = models::mlp(kConfig, Purpose::inference);
  Execution execution(std::move(model.tape), stream);
  models::initialise(execution, 1);
  model.fill_inputs(execution, 2);
  execution.run(Phase::forward);
  Rows<double> x;
  const std::vector<float> input = execution.read(execution.tape().named("x"));
  for (auto at = input.begin(); at != input.end(); at += kConfig.dim)
    x.emplace_back(at, at + kConfig.dim);
  const auto expected = reference::mlp(weights_of(execution), 4, x);
  expect_near(execution.read(model.output), expected);
}

TEST(Mlp, GradientsAreThoseOfTheReference) {
  Trained trained;
  expect_gradients(trained.execution, loss_of(trained.execution, kSmall));
}

TEST(Mlp, TenStepsHaveTheReferencesLosses) {
  Trained trained;
  expect_same_training(trained.execution, trained.model.loss, loss_of(trained.execution, kSmall));
}

TEST(Mlp, MemoryIsPlanned) {
  expect_planned_memory([] { return models::mlp(kSmall, Purpose::training); });
}

TEST(Mlp, FlopsAreThoseOfItsProducts) {
  const models::Model model = models::mlp({.dim = 32, .layers = 3, .batch = 8}, Purpose::training);
  double forward = 0, backward = 0;
  for (const models::Step& step : model.tape.steps())
    if (step.op == "gemm") (step.phase == Phase::forward ? forward : backward) += step.work.flops;
  EXPECT_EQ(forward, 3 * 2.0 * 8 * 32 * 32);
  EXPECT_EQ(backward, 5 * 2.0 * 8 * 32 * 32); // nobody asks for the input's gradient
}

} // namespace
} // namespace kg::test
