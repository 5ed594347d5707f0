// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"
#include "tests/models/trained.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Execution;
using models::Phase;
using models::Purpose;
using models::TransformerConfig;

// Small enough for a node per operation; odd extents, and heads that share keys.
TransformerConfig small(bool qwen) {
  return {.vocabulary = 29,
          .hidden = 12,
          .intermediate = 18,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 4,
          .epsilon = 1e-6F,
          .theta = 100,
          .qkv_bias = qwen,
          .tied = qwen};
}
constexpr reference::Shape kShape{2, 5};

models::Model made(const TransformerConfig& config, reference::Shape shape, Purpose purpose) {
  return models::transformer(config, static_cast<std::int64_t>(shape.batch),
                             static_cast<std::int64_t>(shape.sequence), purpose);
}

ReferenceLoss loss_of(const Execution& execution, const TransformerConfig& config) {
  const auto tokens = execution.read_integers(execution.tape().named("tokens"));
  const auto targets = execution.read_integers(execution.tape().named("targets"));
  const auto loss = [=]<class T>(const Weights<T>& weights) {
    return reference::cross_entropy(reference::transformer<T>(weights, config, kShape, tokens),
                                    targets);
  };
  return {[=](const Weights<double>& w) { return loss(w); },
          [=](const Weights<Scalar>& w) { return loss(w); }};
}

struct Trained {
  Stream stream;
  models::Model model;
  Execution execution;
  explicit Trained(const TransformerConfig& config)
      : model(made(config, kShape, Purpose::training)), execution(
                                                            [this] {
                                                              keep_gradients(model.tape);
                                                              return std::move(model.tape);
                                                            }(),
                                                            stream) {
    models::initialise(execution, 1);
    model.fill_inputs(execution, 2);
  }
};

void expect_logits(const TransformerConfig& config, reference::Shape shape) {
  Stream stream;
  models::Model model = made(config, shape, Purpose::inference);
  Execution execution(std::move(model.tape), stream);
  models::initialise(execution, 1);
  model.fill_inputs(execution, 2);
  execution.run(Phase::forward);
  const auto tokens = execution.read_integers(execution.tape().named("tokens"));
  expect_near(execution.read(model.output),
              reference::transformer(weights_of(execution), config, shape, tokens));
}

TEST(Transformer, LogitsAreThoseOfTheReference) {
  expect_logits(models::read_transformer_config(KERNELGRADE_REDUCED), {2, 24});
}

TEST(Transformer, LogitsOfLlamaAreThoseOfTheReference) { expect_logits(small(false), {3, 7}); }

TEST(Transformer, GradientsAreThoseOfTheReference) {
  for (const bool qwen : {true, false}) {
    SCOPED_TRACE(qwen ? "qwen2" : "llama");
    Trained trained(small(qwen));
    expect_gradients(trained.execution, loss_of(trained.execution, small(qwen)));
  }
}

TEST(Transformer, TenStepsHaveTheReferencesLosses) {
  Trained trained(small(true));
  expect_same_training(trained.execution, trained.model.loss,
                       loss_of(trained.execution, small(true)));
}

TEST(Transformer, MemoryIsPlanned) {
  expect_planned_memory([] { return made(small(true), kShape, Purpose::training); });
}

TEST(Transformer, RefusesATokenThatIsNoWord) {
  Trained trained(small(true));
  const std::vector<std::int32_t> tokens(10, 29);
  EXPECT_THROW(models::write_tokens(trained.execution, tokens, tokens), Error);
}

// 494,032,768 parameters: what its authors give for the model (arXiv 2412.15115: 0.49 billion).
TEST(Transformer, TheConfigurationOfQwenHasItsParameters) {
  const models::Model model =
      made(models::read_transformer_config(KERNELGRADE_QWEN), {1, 16}, Purpose::inference);
  std::int64_t parameters = 0;
  for (const models::Parameter& each : model.tape.parameters()) parameters += each.value.size();
  EXPECT_EQ(parameters, 494'032'768);
}

// The published 8,030,261,248 of the model are 32 layers, two tables of words and a norm.
TEST(Transformer, TheConfigurationOfALlamaLayerHasItsParameters) {
  const models::Model model =
      made(models::read_transformer_config(KERNELGRADE_LLAMA), {1, 16}, Purpose::inference);
  std::int64_t layer = 0, rest = 0;
  for (const models::Parameter& each : model.tape.parameters())
    (each.parts.front().name.find(".layers.") == std::string::npos ? rest : layer) +=
        each.value.size();
  EXPECT_EQ(32 * layer + rest, 8'030'261'248);
}

} // namespace
} // namespace kg::test
