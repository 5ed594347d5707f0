// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Generation with a cache against whole passes without one: the plain loops', and our own.
#include "runtime/error.h"
#include "tests/unit/kernels/models/trained.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Execution;
using models::Phase;
using models::TransformerConfig;

constexpr models::Prompts kPrompts{.batch = 2, .length = 7, .generated = 6};

TransformerConfig llama() {
  return {.vocabulary = 61,
          .hidden = 24,
          .intermediate = 18,
          .layers = 3,
          .heads = 6,
          .kv_heads = 2,
          .head_dim = 8,
          .epsilon = 1e-6F,
          .theta = 100};
}

struct Generating {
  Stream stream;
  models::Generator generator;
  Execution execution;
  explicit Generating(const TransformerConfig& config)
      : generator(models::generator(config, kPrompts)),
        execution(std::move(generator.model.tape), stream) {
    models::initialise(execution, 1);
    generator.model.fill_inputs(execution, 2);
  }
  void decode() {
    for (std::int64_t i = 0; i < generator.model.decodes; ++i) execution.run(Phase::decode);
  }
  std::vector<std::int32_t> words() const { return execution.read_integers(generator.words); }
};

// The logits of every token that was generated, a row per sequence at each step.
std::vector<std::vector<float>> generated_logits(Generating& generating) {
  std::vector<std::vector<float>> steps;
  generating.execution.run(Phase::forward);
  steps.push_back(generating.execution.read(generating.generator.model.output));
  for (std::int64_t i = 0; i < generating.generator.model.decodes; ++i) {
    generating.execution.run(Phase::decode);
    steps.push_back(generating.execution.read(generating.generator.logits));
  }
  return steps;
}

// Our own logits of all tokens, computed at once and without a cache.
Rows<double> whole_pass(const TransformerConfig& config, std::span<const std::int32_t> tokens,
                        std::int64_t sequence) {
  Stream stream;
  models::Model model =
      models::transformer(config, kPrompts.batch, sequence, models::Purpose::inference);
  Execution execution(std::move(model.tape), stream);
  models::initialise(execution, 1);
  models::write_tokens(execution, tokens, {});
  execution.run(Phase::forward);
  const std::vector<float> logits = execution.read(model.output);
  Rows<double> rows;
  for (auto at = logits.begin(); at != logits.end(); at += config.vocabulary)
    rows.emplace_back(at, at + config.vocabulary);
  return rows;
}

// A logit is the end of chains of a few hundred operations, whose errors cancel for the most part:
// the reasoning of expect_gradients, in units of the greatest logit.
double bound(const std::vector<double>& logits) {
  double greatest = 0;
  for (const double each : logits) greatest = std::max(greatest, std::abs(each));
  return 4 * std::sqrt(300) * 0x1p-24 * greatest;
}

// `logits` of one sequence and the word that was chosen by them, against a pass without a cache.
void expect_chosen(std::span<const float> logits, std::int32_t word,
                   const std::vector<double>& whole) {
  for (std::size_t i = 0; i < logits.size(); ++i)
    ASSERT_NEAR(logits[i], whole[i], bound(whole)) << "word " << i;
  std::vector<double> sorted = whole;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  ASSERT_GT(sorted[0] - sorted[1], 2 * bound(whole)) << "the likeliest word is in doubt";
  EXPECT_EQ(word, std::max_element(whole.begin(), whole.end()) - whole.begin());
}

void expect_generation(const TransformerConfig& config) {
  Generating generating(config);
  const auto steps = generated_logits(generating);
  generating.execution.check_memory();
  const std::vector<std::int32_t> words = generating.words();
  const auto row = static_cast<std::size_t>(kPrompts.length + kPrompts.generated);
  const auto vocabulary = static_cast<std::size_t>(config.vocabulary);
  const Weights<double> weights = weights_of(generating.execution);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const std::size_t length = static_cast<std::size_t>(kPrompts.length) + step;
    std::vector<std::int32_t> tokens;
    for (std::size_t b = 0; b < 2; ++b)
      tokens.insert(tokens.end(), words.begin() + static_cast<std::ptrdiff_t>(b * row),
                    words.begin() + static_cast<std::ptrdiff_t>(b * row + length));
    const Rows<double> plain = reference::transformer(weights, config, {2, length}, tokens);
    const Rows<double> ours = whole_pass(config, tokens, static_cast<std::int64_t>(length));
    for (std::size_t b = 0; b < 2; ++b) {
      const std::span<const float> logits(&steps[step][b * vocabulary], vocabulary);
      expect_chosen(logits, words[b * row + length], plain[(b + 1) * length - 1]);
      expect_chosen(logits, words[b * row + length], ours[(b + 1) * length - 1]);
    }
  }
}

TEST(Generation, StepsAreThoseOfWholePasses) {
  expect_generation(models::read_transformer_config(KERNELGRADE_REDUCED));
}

TEST(Generation, StepsOfLlamaAreThoseOfWholePasses) { expect_generation(llama()); }

TEST(Generation, StepsOfGpt2AreThoseOfWholePasses) {
  expect_generation(models::read_transformer_config(KERNELGRADE_GPT2_REDUCED));
}

TEST(Generation, PromptsStandBeforeWhatIsGenerated) {
  Generating generating(llama());
  const auto prompts =
      generating.execution.read_integers(generating.execution.tape().named("tokens"));
  generating.execution.run(Phase::forward);
  generating.decode();
  const std::vector<std::int32_t> words = generating.words();
  const auto row = static_cast<std::size_t>(kPrompts.length + kPrompts.generated);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < static_cast<std::size_t>(kPrompts.length); ++i)
      EXPECT_EQ(words[b * row + i], prompts[b * static_cast<std::size_t>(kPrompts.length) + i]);
}

// A run after the last has no room in the cache: nothing lies behind it.
TEST(Generation, StopsWhereTheCacheIsFull) {
  Generating generating(llama());
  generating.execution.run(Phase::forward);
  generating.decode();
  const std::vector<std::int32_t> words = generating.words();
  generating.execution.run(Phase::decode);
  generating.execution.check_memory();
  std::vector<std::int32_t> now = generating.words();
  const auto row = kPrompts.length + kPrompts.generated;
  for (std::int64_t b = 0; b < 2; ++b) // the last one is chosen again, by other tokens
    now[static_cast<std::size_t>((b + 1) * row - 1)] =
        words[static_cast<std::size_t>((b + 1) * row - 1)];
  EXPECT_EQ(now, words);
}

TEST(Generation, MemoryIsPlanned) {
  const auto words = [](const std::function<void(Generating&)>& run) {
    Generating generating(llama());
    const models::MemoryUse use = generating.execution.memory();
    EXPECT_LT(use.predicted, use.unshared);
    EXPECT_GT(use.predicted, generating.generator.model.cache_bytes);
    run(generating);
    generating.execution.check_memory();
    EXPECT_EQ(generating.execution.memory().measured, use.predicted);
    return generating.words();
  };
  const auto plain = words([](Generating& generating) {
    generating.execution.run(Phase::forward);
    generating.decode();
  });
  EXPECT_EQ(plain, words([](Generating& generating) {
              generating.execution.poison_unused(true);
              generating.execution.run(Phase::forward);
              generating.decode();
            }))
      << "a tensor was read when it was dead";
  EXPECT_EQ(plain, words([](Generating& generating) {
              generating.execution.run(Phase::forward);
              Graph graph = Graph::capture(
                  generating.stream, [&](Stream&) { generating.execution.run(Phase::decode); });
              for (std::int64_t i = 0; i < generating.generator.model.decodes; ++i)
                graph.launch(generating.stream);
            }))
      << "one graph, launched for each token, wrote others";
}

// 2 (keys, values) x layers x batch x capacity x key heads x depth numbers.
TEST(Generation, TheCacheIsAsLargeAsItMustBe) {
  EXPECT_EQ(models::generator(llama(), kPrompts).model.cache_bytes, 4 * 2 * 3 * 2 * 12 * 2 * 8);
}

TEST(Generation, RefusesWhatGeneratesNothing) {
  EXPECT_THROW(models::generator(llama(), {.batch = 1, .length = 4, .generated = 1}), Error);
  EXPECT_THROW(models::generator(llama(), {.batch = 1, .length = 0, .generated = 4}), Error);
}

} // namespace
} // namespace kg::test
