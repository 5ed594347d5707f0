// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models of bf16 and f16 against the plain loops in double, which take the same rounded weights and
// inputs.
#include "models/element.h"
#include "models/loss_scale.h"
#include "tests/unit/kernels/models/trained.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Execution;
using models::Phase;
using models::Purpose;
using models::TransformerConfig;

constexpr Dtype kSixteenBits[] = {Dtype::bf16, Dtype::f16};

TransformerConfig small(Dtype dtype) {
  return {.vocabulary = 61,
          .hidden = 32,
          .intermediate = 24,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 8,
          .epsilon = 1e-6F,
          .theta = 100,
          .qkv_bias = true,
          .tied = true,
          .dtype = dtype};
}
constexpr reference::Shape kShape{2, 9};

// Sums are of f32; what is rounded to 16 bits is each tensor that is stored. With n of them between
// input and output, each off by up to a unit of its size, uniformly and independent of the others,
// the output is off by sqrt(n / 3) units where layers pass an error on at its size; 4 leaves room
// for those that amplify it.
double share(Dtype dtype, double stored) {
  return 4 * unit_roundoff(dtype) * std::sqrt(stored / 3);
}
// Of a layer norm, qkv, turned qkv, attention, its product, sum, norm, gate and up, their product,
// the last product and sum; behind the layers a norm and the logits. GPT-2 turns nothing, and
// begins with the sum of words and positions.
double stored(const TransformerConfig& config) {
  const auto layers = static_cast<double>(config.layers);
  return config.family == models::Family::gpt2 ? 10 * layers + 3 : 11 * layers + 2;
}

struct Made {
  Stream stream;
  models::Model model;
  Execution execution;
  explicit Made(models::Model of)
      : model(std::move(of)), execution(
                                  [this] {
                                    if (model.loss.exists()) keep_gradients(model.tape);
                                    return std::move(model.tape);
                                  }(),
                                  stream) {
    models::initialise(execution, 1);
    model.fill_inputs(execution, 2);
  }
  std::vector<float> forward() {
    execution.run(Phase::forward);
    return execution.read(model.output);
  }
  std::vector<std::int32_t> integers(const char* name) const {
    return execution.read_integers(execution.tape().named(name));
  }
};

TEST(LowPrecision, LogitsAreThoseOfTheReference) {
  for (const char* file : {KERNELGRADE_REDUCED, KERNELGRADE_GPT2_REDUCED})
    for (const Dtype dtype : kSixteenBits) {
      SCOPED_TRACE(name(dtype));
      TransformerConfig config = models::read_transformer_config(file);
      config.dtype = dtype;
      Made made(models::transformer(config, 2, 24, Purpose::inference));
      const std::vector<float> logits = made.forward();
      expect_near(logits,
                  reference::transformer(weights_of(made.execution), config, {2, 24},
                                         made.integers("tokens")),
                  share(dtype, stored(config)));
    }
}

Rows<double> rows_of(const std::vector<float>& values, std::int64_t cols) {
  Rows<double> rows;
  for (auto at = values.begin(); at != values.end(); at += cols) rows.emplace_back(at, at + cols);
  return rows;
}

TEST(LowPrecision, OutputsOfMlpAreThoseOfTheReference) {
  for (const Dtype dtype : kSixteenBits) {
    SCOPED_TRACE(name(dtype));
    Made made(
        models::mlp({.dim = 64, .layers = 4, .batch = 48, .dtype = dtype}, Purpose::inference));
    const std::vector<float> y = made.forward();
    const Rows<double> x = rows_of(made.execution.read(made.execution.tape().named("x")), 64);
    expect_near(y, reference::mlp(weights_of(made.execution), 4, x), share(dtype, 2 * 4));
  }
}

// What the gradients are that were stored times the scale of the loss.
double unscale_of(const Execution& execution) {
  return execution.read(execution.tape().named(models::kLossUnscale)).front();
}

// On the way back as many are rounded again.
void expect_gradients_of(Execution& execution, const ReferenceLoss& loss, Dtype dtype,
                         double stored) {
  execution.run(Phase::forward);
  execution.run(Phase::backward);
  const LossAndGradient there = differentiate(loss, weights_of(execution));
  const Weights<double> ours = gradients_of(execution);
  const double unscale = unscale_of(execution);
  for (const auto& [name, gradient] : there.gradient) {
    double distance = 0, size = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      distance += std::abs(gradient[i] - unscale * ours.at(name)[i]);
      size += std::abs(gradient[i]);
    }
    EXPECT_LE(distance, share(dtype, 2 * stored) * size) << name;
    EXPECT_GT(size, 0) << name;
  }
}

TEST(LowPrecision, GradientsAreThoseOfTheReference) {
  for (const Dtype dtype : kSixteenBits) {
    SCOPED_TRACE(name(dtype));
    Made made(models::transformer(small(dtype), 2, 9, Purpose::training));
    const auto tokens = made.integers("tokens"), targets = made.integers("targets");
    const auto loss = [&]<class T>(const Weights<T>& w) {
      return reference::cross_entropy(reference::transformer<T>(w, small(dtype), kShape, tokens),
                                      targets);
    };
    expect_gradients_of(made.execution,
                        {[=](const Weights<double>& w) { return loss(w); },
                         [=](const Weights<Scalar>& w) { return loss(w); }},
                        dtype, stored(small(dtype)));
  }
}

TEST(LowPrecision, GradientsOfMlpAreThoseOfTheReference) {
  constexpr models::MlpConfig kConfig{.dim = 24, .layers = 3, .batch = 10, .dtype = Dtype::bf16};
  Made made(models::mlp(kConfig, Purpose::training));
  const models::Tape& tape = made.execution.tape();
  const std::vector<float> x = made.execution.read(tape.named("x"));
  const std::vector<float> target = made.execution.read(tape.named("target"));
  const auto loss = [&]<class T>(const Weights<T>& w) {
    Rows<T> rows;
    for (auto at = x.begin(); at != x.end(); at += kConfig.dim)
      rows.emplace_back(at, at + kConfig.dim);
    return reference::squared_error(reference::mlp(w, 3, std::move(rows)), target);
  };
  expect_gradients_of(made.execution,
                      {[=](const Weights<double>& w) { return loss(w); },
                       [=](const Weights<Scalar>& w) { return loss(w); }},
                      Dtype::bf16, 2 * 3 + 1);
}

// The masters take AdamW's steps by the gradients that were stored, and the parameters are they,
// rounded: what one step adds may be too small for bf16 and is not lost.
void expect_trained_masters(Dtype dtype) {
  constexpr int kSteps = 5;
  Made made(models::transformer(small(dtype), 2, 9, Purpose::training));
  const models::Tape& tape = made.execution.tape();
  const auto each = [&](const std::function<models::Tensor(models::Tensor)>& of) {
    Weights<double> all;
    for (const models::Parameter& parameter : tape.parameters()) {
      const std::vector<float> values = made.execution.read(of(parameter.value));
      all[tape.name(parameter.value)].assign(values.begin(), values.end());
    }
    return all;
  };
  const auto masters = [&] { return each([&](models::Tensor v) { return tape.master_of(v); }); };
  Weights<double> expected = masters();
  ReferenceOptimiser adamw;
  float first = 0;
  for (int step = 0; step < kSteps; ++step) {
    for (const Phase phase : {Phase::forward, Phase::backward, Phase::update})
      made.execution.run(phase);
    if (step == 0) first = made.execution.read(made.model.loss).front();
    Weights<double> gradient = each([&](models::Tensor v) { return tape.gradient(v); });
    for (auto& [name, values] : gradient)
      for (double& value : values) value *= unscale_of(made.execution);
    adamw.step(expected, gradient);
  }
  for (const auto& [name, values] : masters())
    for (std::size_t i = 0; i < values.size(); ++i)
      // A step of 1e-3 whose quotient rounds a dozen times, and the weight, three times.
      ASSERT_NEAR(values[i], expected.at(name)[i],
                  kSteps * 0x1p-24 * (12 * 1e-3 + 3 * std::abs(expected.at(name)[i])))
          << name;
  for (const models::Parameter& parameter : tape.parameters()) {
    const std::vector<float> master = made.execution.read(tape.master_of(parameter.value));
    EXPECT_EQ(made.execution.read(parameter.value),
              models::decoded(models::encoded(master, dtype), dtype));
  }
  EXPECT_LT(made.execution.read(made.model.loss).front(), 0.99F * first);
}

TEST(LowPrecision, MastersAreTrained) {
  for (const Dtype dtype : kSixteenBits) {
    SCOPED_TRACE(name(dtype));
    expect_trained_masters(dtype);
  }
}

TEST(LowPrecision, GenerationIsThatOfWholePasses) {
  const TransformerConfig config = small(Dtype::bf16);
  models::Generator generator = models::generator(config, {2, 5, 4});
  const models::Tensor words = generator.words, logits = generator.logits;
  Made made(std::move(generator.model));
  made.execution.run(Phase::forward);
  for (int i = 0; i < 3; ++i) made.execution.run(Phase::decode);
  const std::vector<std::int32_t> all = made.execution.read_integers(words);
  std::vector<std::int32_t> tokens;
  for (std::ptrdiff_t b = 0; b < 2; ++b)
    tokens.insert(tokens.end(), all.begin() + 9 * b, all.begin() + 9 * b + 8);
  const Rows<double> whole =
      reference::transformer(weights_of(made.execution), config, {2, 8}, tokens);
  expect_near(made.execution.read(logits), {whole[7], whole[15]},
              share(Dtype::bf16, stored(config)));
}

TEST(LowPrecision, MemoryIsPlanned) {
  expect_planned_memory(
      [] { return models::transformer(small(Dtype::bf16), 2, 9, Purpose::training); });
}

} // namespace
} // namespace kg::test
