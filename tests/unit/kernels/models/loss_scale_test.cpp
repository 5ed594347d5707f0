// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/loss_scale.h"

#include "tests/unit/kernels/models/trained.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace kg::test {
namespace {

using models::Execution;
using models::LossScale;
using models::Phase;
using models::Purpose;

models::Model mlp(Dtype dtype) {
  return models::mlp({.dim = 24, .layers = 3, .batch = 10, .dtype = dtype}, Purpose::training);
}

struct Scaled {
  Stream stream;
  models::Model model;
  Execution execution;
  LossScale scale;
  explicit Scaled(models::Model of, const LossScale::Settings& settings = {})
      : model(std::move(of)), execution(
                                  [this] {
                                    keep_gradients(model.tape);
                                    return std::move(model.tape);
                                  }(),
                                  stream),
        scale(execution, settings) {
    models::initialise(execution, 1);
    model.fill_inputs(execution, 2);
  }
  void differentiate() {
    execution.run(Phase::forward);
    execution.run(Phase::backward);
  }
  bool update() {
    execution.run(Phase::update);
    return scale.update();
  }
  bool step() {
    differentiate();
    return update();
  }
  // Whatever an update writes: parameters that have a gradient, their masters and moments.
  std::vector<std::vector<float>> state() const {
    const models::Tape& tape = execution.tape();
    std::vector<std::vector<float>> all;
    for (const models::Parameter& each : tape.parameters()) {
      if (!tape.gradient(each.value).exists()) continue;
      all.push_back(execution.read(each.value));
      if (tape.master_of(each.value).exists())
        all.push_back(execution.read(tape.master_of(each.value)));
      for (const char* moment : {".first", ".second"})
        if (tape.has(each.parts.front().name + moment))
          all.push_back(execution.read(tape.named(each.parts.front().name + moment)));
    }
    return all;
  }
};

// 2^40 is more than f16 holds, and halves until the gradients are finite. Whoever begins with the
// scale that is left has the same bits afterwards, and the same number of updates behind him.
TEST(LossScale, ASkippedUpdateChangesNothingAndIsNotCounted) {
  Scaled training(mlp(Dtype::f16), {.first = 0x1p40F});
  const auto before = training.state();
  int skipped = 0;
  while (!training.step()) {
    ASSERT_LT(++skipped, 40);
    EXPECT_EQ(training.state(), before);
    EXPECT_EQ(training.scale.scale(), 0x1p40F / static_cast<float>(1LL << skipped));
  }
  EXPECT_GT(skipped, 10);
  EXPECT_NE(training.state(), before);
  Scaled other(mlp(Dtype::f16), {.first = training.scale.scale()});
  EXPECT_TRUE(other.step());
  EXPECT_EQ(other.state(), training.state());
}

TEST(LossScale, GrowsAfterStepsWithoutASkippedOne) {
  Scaled training(mlp(Dtype::f16), {.first = 1024, .interval = 2});
  EXPECT_TRUE(training.step());
  EXPECT_EQ(training.scale.scale(), 1024);
  EXPECT_TRUE(training.step());
  EXPECT_EQ(training.scale.scale(), 2048);
  EXPECT_TRUE(training.step());
  EXPECT_EQ(training.scale.scale(), 2048);
}

// Gradients of some 1e-7 lie among f16's subnormals, which are 6e-8 apart.
TEST(LossScale, KeepsWhatF16WouldLose) {
  const auto gradients = [](Dtype dtype, float scale) {
    Scaled training(
        models::mlp({.dim = 64, .layers = 4, .batch = 256, .dtype = dtype}, Purpose::training),
        {.first = scale});
    training.differentiate();
    return gradients_of(training.execution).at("layers.0.weight");
  };
  const std::vector<double> exact = gradients(Dtype::f32, 1);
  const auto off = [&](float scale) {
    const std::vector<double> ours = gradients(Dtype::f16, scale);
    double distance = 0, size = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      distance += std::abs(ours[i] / scale - exact[i]);
      size += std::abs(exact[i]);
    }
    return distance / size;
  };
  std::printf("off by %.1e without a scale, by %.1e with one of 65536\n", off(1), off(65536));
  EXPECT_LT(10 * off(65536), off(1));
}

TEST(LossScale, TeachesAModelOfF16) {
  Scaled training(mlp(Dtype::f16));
  EXPECT_EQ(training.scale.scale(), 65536);
  std::vector<float> losses;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(training.step());
    losses.push_back(training.execution.read(training.model.loss).front());
  }
  EXPECT_LT(losses.back(), 0.99F * losses.front());
}

TEST(LossScale, AModelOfF32HasNone) {
  Scaled training(mlp(Dtype::f32), {.first = 1024});
  EXPECT_FALSE(training.execution.tape().has(models::kFoundInf));
  EXPECT_TRUE(training.step());
  EXPECT_EQ(training.scale.scale(), 1);
}

// Batchnorms' gradients are f32 where those of convolutions are bf16. One that is not finite keeps
// the others from being applied, whichever it is.
TEST(LossScale, OneFlagSpeaksOfAllTypes) {
  for (const char* name : {"conv1.weight", "bn1.weight"})
    for (const float bad :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      SCOPED_TRACE(name);
      Scaled training(models::resnet(
          18, {.batch = 2, .size = 33, .classes = 5, .narrower = 32, .dtype = Dtype::bf16},
          Purpose::training));
      const models::Tape& tape = training.execution.tape();
      training.differentiate();
      const models::Tensor gradient = tape.gradient(tape.named(name));
      std::vector<float> values = training.execution.read(gradient);
      values.back() = bad;
      training.execution.write(gradient, values);
      const auto before = training.state();
      EXPECT_FALSE(training.update());
      EXPECT_EQ(training.state(), before);
      EXPECT_TRUE(training.step());
      EXPECT_NE(training.state(), before);
    }
}

} // namespace
} // namespace kg::test
