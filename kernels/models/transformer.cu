// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decoders: inputs, outputs, training and generation.
#include "models/decoder.h"
#include "models/initial_values.h"
#include "models/model.h"
#include "runtime/error.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kg::models {
namespace {

Tensor decode(const Stage& at) { return at.config.family == Family::gpt2 ? gpt2(at) : llama(at); }

// For sequences of up to `most` tokens.
Positions positions(Tape& tape, const TransformerConfig& config, const Tokens& tokens,
                    std::int64_t most) {
  if (config.family != Family::gpt2)
    return rotary_positions(tape, tokens, most, config.head_dim, config.theta);
  require(most <= config.positions, "transformer: its longest sequence has " +
                                        std::to_string(config.positions) + " tokens, and " +
                                        std::to_string(most) + " are asked for");
  return learned_positions(tape, tokens, config.positions);
}

std::vector<std::int32_t> random_words(std::uint64_t seed, const std::string& name,
                                       std::int64_t count, std::int64_t vocabulary) {
  std::vector<std::int32_t> words;
  for (const float value : uniform(seed, name, count, 0.5, 0.5))
    words.push_back(static_cast<std::int32_t>(std::min(
        static_cast<std::int64_t>(static_cast<double>(value) * static_cast<double>(vocabulary)),
        vocabulary - 1)));
  return words;
}

} // namespace

Heads heads_of(const TransformerConfig& config) {
  return {config.heads, config.kv_heads, config.head_dim};
}

Tensor look_back(const Stage& at, std::int64_t layer, Tensor qkv) {
  const Heads heads = heads_of(at.config);
  if (at.memory == nullptr) return attention(at.tape, qkv, heads, at.tokens);
  const Cache& cache = at.memory->layers[static_cast<std::size_t>(layer)];
  append(at.tape, qkv, heads, at.memory->progress, cache);
  return at.decodes ? cached_attention(at.tape, qkv, heads, at.memory->progress, cache)
                    : attention(at.tape, qkv, heads, at.tokens);
}

Tensor logits(const Stage& at, Tensor normed, Tensor words) {
  if (at.memory != nullptr && !at.decodes) normed = last_rows(at.tape, normed, at.tokens);
  const Layer here(at.tape, "lm_head");
  return linear(at.tape, normed, words);
}

Model transformer(const TransformerConfig& config, std::int64_t batch, std::int64_t sequence,
                  Purpose purpose) {
  require(batch > 0 && sequence > 0, "transformer: batch and sequence must be above 0");
  const bool trained = purpose == Purpose::training;
  require(!trained || !config.dropout,
          "transformer: its configuration drops activations in training, which is not done here; "
          "set attn_pdrop, embd_pdrop and resid_pdrop to 0");
  Model model{.name = "transformer"};
  model.item = "tokens";
  model.items = batch * sequence;
  Tape& tape = model.tape;

  Tokens tokens{batch, sequence, tape.input("tokens", batch, sequence, Dtype::i32), {}, {}};
  if (trained) {
    tokens.order = tape.input("tokens.order", batch, sequence, Dtype::i32);
    tokens.offsets = tape.input("tokens.offsets", config.vocabulary + 1, 1, Dtype::i32);
  }
  const Positions places = positions(tape, config, tokens, sequence);
  model.output = decode({tape, config, tokens, places});
  tape.keep(model.output);
  if (trained) {
    const Layer here(tape, "loss");
    model.loss =
        cross_entropy(tape, model.output, tape.input("targets", batch, sequence, Dtype::i32));
    tape.keep(model.loss);
    tape.backward();
    optimise(tape, optimizer::Kind::adamw,
             {.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 0.01});
  }
  model.fill_inputs = [=, words = config.vocabulary](Execution& execution, std::uint64_t seed) {
    const std::int64_t count = batch * sequence;
    std::vector<std::int32_t> targets;
    if (trained) targets = random_words(seed, "targets", count, words);
    write_tokens(execution, random_words(seed, "tokens", count, words), targets);
  };
  return model;
}

Generator generator(const TransformerConfig& config, const Prompts& prompts) {
  const auto [batch, length, generated] = prompts;
  require(batch > 0 && length > 0, "generator: batch and length of the prompts must be above 0");
  require(generated >= 2, "generator: at least two tokens; the prompts themselves give the first");
  Generator made{.model = {.name = "transformer"}};
  Model& model = made.model;
  model.item = "tokens";
  model.items = batch * length;
  model.decoded = batch;
  model.decodes = generated - 1;
  Tape& tape = model.tape;

  const Tokens prompt{batch, length, tape.input("tokens", batch, length, Dtype::i32), {}, {}};
  made.words = tape.state("words", batch, length + generated, Dtype::i32);
  const Tensor newest = tape.state("newest", batch, 1, Dtype::i32);
  // The last generated token is never an input, so it is not cached.
  const std::int64_t capacity = length + generated - 1;
  Memory memory;
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    memory.layers.push_back(cache(tape, "cache." + std::to_string(layer), heads_of(config), batch,
                                  capacity, config.dtype));
  for (const Cache& layer : memory.layers)
    model.cache_bytes += layer.keys.bytes() + layer.values.bytes();
  const auto choose = [&](Tensor logits) {
    const Layer here(tape, "greedy");
    tape.keep(logits);
    greedy(tape, logits, newest);
    append_words(tape, newest, memory.progress.after, made.words);
    return logits;
  };

  memory.progress = begin(tape, batch, length);
  append_words(tape, prompt.ids, memory.progress.before, made.words);
  Positions places = positions(tape, config, prompt, capacity);
  model.output = choose(decode({tape, config, prompt, places, &memory}));

  tape.begin(Phase::decode);
  memory.progress = advance(tape, memory.progress, capacity);
  places.learned = {batch, 1, memory.progress.before, {}, {}};
  const Tokens next{batch, 1, newest, {}, {}};
  made.logits = choose(decode({tape, config, next, places, &memory, true}));

  model.fill_inputs = [=, batch = batch, length = length,
                       vocabulary = config.vocabulary](Execution& execution, std::uint64_t seed) {
    write_tokens(execution, random_words(seed, "tokens", batch * length, vocabulary), {});
  };
  return made;
}

void write_tokens(Execution& execution, std::span<const std::int32_t> tokens,
                  std::span<const std::int32_t> targets) {
  const Tape& tape = execution.tape();
  const std::int64_t vocabulary = tape.named(tape.has(kGpt2Words) ? kGpt2Words : kLlamaWords).rows;
  for (const auto& words : {tokens, targets})
    for (const std::int32_t word : words)
      require(word >= 0 && word < vocabulary, "write_tokens: no word " + std::to_string(word) +
                                                  " among " + std::to_string(vocabulary));
  execution.write(tape.named("tokens"), tokens);
  if (targets.empty()) return;
  const Sorted by_word = sorted(tokens, vocabulary);
  execution.write(tape.named("targets"), targets);
  execution.write(tape.named("tokens.order"), std::span<const std::int32_t>(by_word.order));
  execution.write(tape.named("tokens.offsets"), std::span<const std::int32_t>(by_word.offsets));
}

} // namespace kg::models
