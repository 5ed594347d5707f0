// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"
#include "tests/unit/kernels/models/trained.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Execution;
using models::Phase;
using models::Purpose;
using models::TransformerConfig;

enum class Kind { qwen2, llama, gpt2 };
constexpr Kind kKinds[] = {Kind::qwen2, Kind::llama, Kind::gpt2};

// Small enough for a node per operation; odd extents, and heads that share keys.
TransformerConfig small(Kind kind) {
  if (kind == Kind::gpt2)
    return {.family = models::Family::gpt2,
            .vocabulary = 29,
            .hidden = 12,
            .intermediate = 18,
            .layers = 2,
            .heads = 3,
            .kv_heads = 3,
            .head_dim = 4,
            .epsilon = 1e-5F,
            .qkv_bias = true,
            .tied = true,
            .positions = 5};
  const bool qwen = kind == Kind::qwen2;
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

TEST(Transformer, LogitsOfLlamaAreThoseOfTheReference) {
  expect_logits(small(Kind::llama), {3, 7});
}

TEST(Transformer, LogitsOfGpt2AreThoseOfTheReference) {
  expect_logits(models::read_transformer_config(KERNELGRADE_GPT2_REDUCED), {2, 24});
}

TEST(Transformer, GradientsAreThoseOfTheReference) {
  for (const Kind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    Trained trained(small(kind));
    expect_gradients(trained.execution, loss_of(trained.execution, small(kind)));
  }
}

TEST(Transformer, TenStepsHaveTheReferencesLosses) {
  for (const Kind kind : {Kind::qwen2, Kind::gpt2}) {
    SCOPED_TRACE(static_cast<int>(kind));
    Trained trained(small(kind));
    expect_same_training(trained.execution, trained.model.loss,
                         loss_of(trained.execution, small(kind)));
  }
}

TEST(Transformer, MemoryIsPlanned) {
  for (const Kind kind : {Kind::qwen2, Kind::gpt2})
    expect_planned_memory([=] { return made(small(kind), kShape, Purpose::training); });
}

TEST(Transformer, RefusesATokenThatIsNoWord) {
  for (const Kind kind : kKinds) {
    Trained trained(small(kind));
    const std::vector<std::int32_t> tokens(10, 29);
    EXPECT_THROW(models::write_tokens(trained.execution, tokens, tokens), Error);
  }
}

TEST(Transformer, RefusesWhatGpt2CannotDo) {
  TransformerConfig config = small(Kind::gpt2);
  EXPECT_THROW(made(config, {1, 6}, Purpose::inference), Error); // there is no sixth position
  EXPECT_THROW(models::generator(config, {.batch = 1, .length = 4, .generated = 3}), Error);
  config.dropout = true;
  EXPECT_NO_THROW(made(config, kShape, Purpose::inference));
  EXPECT_THROW(made(config, kShape, Purpose::training), Error);
}

// 494,032,768 parameters: what its authors give for the model (arXiv 2412.15115: 0.49 billion).
TEST(Transformer, TheConfigurationOfQwenHasItsParameters) {
  const models::Model model =
      made(models::read_transformer_config(KERNELGRADE_QWEN), {1, 16}, Purpose::inference);
  std::int64_t parameters = 0;
  for (const models::Parameter& each : model.tape.parameters()) parameters += each.value.size();
  EXPECT_EQ(parameters, 494'032'768);
}

// 124,439,808: those of openai-community/gpt2, whose card says 124M.
TEST(Transformer, TheConfigurationOfGpt2HasItsParameters) {
  const models::Model model =
      made(models::read_transformer_config(KERNELGRADE_GPT2), {1, 16}, Purpose::inference);
  std::int64_t parameters = 0;
  for (const models::Parameter& each : model.tape.parameters()) parameters += each.value.size();
  EXPECT_EQ(parameters, 124'439'808);
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
