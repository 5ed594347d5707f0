// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The decoder of Touvron et al., "LLaMA", arXiv 2302.13971, with the grouped heads of Ainslie et
// al., arXiv 2305.13245, and where the configuration has them the biases of Qwen2, arXiv
// 2407.10671: norms before the blocks, rotary positions, gated feed-forward blocks.
#include "models/initial_values.h"
#include "models/layers.h"
#include "models/model.h"
#include "runtime/error.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kg::models {
namespace {

// Where keys and values are kept: a cache per layer, and how far the sequences are.
struct Memory {
  std::vector<Cache> layers;
  Progress progress;
};

// What all blocks share.
struct Stage {
  Tape& tape;
  const TransformerConfig& config;
  const Tokens& tokens;
  const Positions& positions;
  const Memory* memory = nullptr; // of a model that generates
  bool decodes = false;           // the newest token of each sequence alone
};

Heads heads_of(const TransformerConfig& config) {
  return {config.heads, config.kv_heads, config.head_dim};
}

// Uniform with a standard deviation of 0.02, the initializer_range of these models; biases and
// norms, which begin with 0 and 1 there, vary here, so that a test can see what they do.
constexpr double kSpread = 0.0346;

Tensor norm(Tape& tape, const TransformerConfig& config, const std::string& name) {
  return vector(tape, {{name + ".weight", config.hidden}}, 1, kSpread, config.dtype);
}

// Each token looks at those before it and at itself.
Tensor look_back(const Stage& at, std::int64_t layer, Tensor qkv) {
  const Heads heads = heads_of(at.config);
  if (at.memory == nullptr) return attention(at.tape, qkv, heads, at.tokens);
  const Cache& cache = at.memory->layers[static_cast<std::size_t>(layer)];
  append(at.tape, qkv, heads, at.memory->progress, cache);
  return at.decodes ? cached_attention(at.tape, qkv, heads, at.memory->progress, cache)
                    : attention(at.tape, qkv, heads, at.tokens);
}

Tensor self_attention(const Stage& at, std::int64_t layer, const std::string& name, Tensor x) {
  Tape& tape = at.tape;
  const TransformerConfig& config = at.config;
  const Layer here(tape, "self_attn");
  const std::int64_t q = config.heads * config.head_dim, kv = config.kv_heads * config.head_dim;
  const auto parts = [&](const std::string& ending) -> std::vector<Part> {
    return {{name + ".q_proj" + ending, q},
            {name + ".k_proj" + ending, kv},
            {name + ".v_proj" + ending, kv}};
  };
  const Tensor in = weight(tape, parts(".weight"), config.hidden, kSpread, config.dtype);
  const Tensor bias =
      config.qkv_bias ? vector(tape, parts(".bias"), 0, kSpread, config.dtype) : Tensor{};
  const Tensor out =
      weight(tape, {{name + ".o_proj.weight", config.hidden}}, q, kSpread, config.dtype);

  const Tensor qkv = linear(tape, x, in, bias);
  rotate(tape, qkv, heads_of(config), at.positions);
  return linear(tape, look_back(at, layer, qkv), out);
}

Tensor feed_forward(const Stage& at, const std::string& name, Tensor x) {
  Tape& tape = at.tape;
  const TransformerConfig& config = at.config;
  const Layer here(tape, "mlp");
  const Tensor gate_up = weight(tape,
                                {{name + ".gate_proj.weight", config.intermediate},
                                 {name + ".up_proj.weight", config.intermediate}},
                                config.hidden, kSpread, config.dtype);
  const Tensor down = weight(tape, {{name + ".down_proj.weight", config.hidden}},
                             config.intermediate, kSpread, config.dtype);
  return linear(tape, swiglu(tape, linear(tape, x, gate_up)), down);
}

// The decoder's stack: from words to one logit per word of the vocabulary, for each token, or where
// the model generates, for each sequence's last.
Tensor decode(const Stage& at) {
  Tape& tape = at.tape;
  const TransformerConfig& config = at.config;
  const Tensor words = weight(tape, {{"model.embed_tokens.weight", config.vocabulary}},
                              config.hidden, kSpread, config.dtype);
  const Tensor head = config.tied ? words
                                  : weight(tape, {{"lm_head.weight", config.vocabulary}},
                                           config.hidden, kSpread, config.dtype);
  // x: the residual stream. last: what the block before adds to it, together with the next norm.
  Tensor x = embed(tape, words, at.tokens), last, normed;
  const auto add_and_norm = [&](const std::string& name) {
    const Tensor gamma = norm(tape, config, name);
    if (last.exists()) {
      const Normed both = add_rmsnorm(tape, x, last, gamma, config.epsilon);
      x = both.sum;
      return both.normed;
    }
    return rmsnorm(tape, x, gamma, config.epsilon);
  };
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string name = "model.layers." + std::to_string(i);
    const Layer here(tape, "layers." + std::to_string(i));
    normed = add_and_norm(name + ".input_layernorm");
    last = self_attention(at, i, name + ".self_attn", normed);
    normed = add_and_norm(name + ".post_attention_layernorm");
    last = feed_forward(at, name + ".mlp", normed);
  }
  normed = add_and_norm("model.norm");
  if (at.memory != nullptr && !at.decodes) normed = last_rows(tape, normed, at.tokens);
  const Layer here(tape, "lm_head");
  return linear(tape, normed, head);
}

// The tokens by word, those of one word in their order, and where each word's begin.
struct Sorted {
  std::vector<std::int32_t> order, offsets;
};
Sorted sorted(std::span<const std::int32_t> tokens, std::int64_t vocabulary) {
  Sorted by_word{std::vector<std::int32_t>(tokens.size()),
                 std::vector<std::int32_t>(static_cast<std::size_t>(vocabulary) + 1, 0)};
  for (const std::int32_t token : tokens) ++by_word.offsets[static_cast<std::size_t>(token) + 1];
  for (std::size_t word = 1; word < by_word.offsets.size(); ++word)
    by_word.offsets[word] += by_word.offsets[word - 1];
  std::vector<std::int32_t> next = by_word.offsets;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto word = static_cast<std::size_t>(tokens[i]);
    by_word.order[static_cast<std::size_t>(next[word]++)] = static_cast<std::int32_t>(i);
  }
  return by_word;
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

Model transformer(const TransformerConfig& config, std::int64_t batch, std::int64_t sequence,
                  Purpose purpose) {
  require(batch > 0 && sequence > 0, "transformer: batch and sequence must be above 0");
  const bool trained = purpose == Purpose::training;
  Model model{.name = "transformer"};
  model.item = "tokens";
  model.items = batch * sequence;
  Tape& tape = model.tape;

  Tokens tokens{batch, sequence, tape.input("tokens", batch, sequence, Dtype::i32), {}, {}};
  if (trained) {
    tokens.order = tape.input("tokens.order", batch, sequence, Dtype::i32);
    tokens.offsets = tape.input("tokens.offsets", config.vocabulary + 1, 1, Dtype::i32);
  }
  const Positions angles = positions(tape, tokens, sequence, config.head_dim, config.theta);
  model.output = decode({tape, config, tokens, angles});
  tape.keep(model.output);
  if (trained) {
    const Layer here(tape, "loss");
    model.loss =
        cross_entropy(tape, model.output, tape.input("targets", batch, sequence, Dtype::i32));
    tape.keep(model.loss);
    tape.backward();
    adamw(tape, {.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 0.01});
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
  // The last token that is generated is nobody's input.
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
  Positions places = positions(tape, prompt, capacity, config.head_dim, config.theta);
  model.output = choose(decode({tape, config, prompt, places, &memory}));

  tape.begin(Phase::decode);
  memory.progress = advance(tape, memory.progress, capacity);
  places.of_token = memory.progress.before;
  const Tokens next{batch, 1, newest, {}, {}};
  made.logits = choose(decode({tape, config, next, places, &memory, true}));

  model.fill_inputs = [=, vocabulary = config.vocabulary](Execution& execution,
                                                          std::uint64_t seed) {
    write_tokens(execution, random_words(seed, "tokens", batch * length, vocabulary), {});
  };
  return made;
}

void write_tokens(Execution& execution, std::span<const std::int32_t> tokens,
                  std::span<const std::int32_t> targets) {
  const Tape& tape = execution.tape();
  const std::int64_t vocabulary = tape.named("model.embed_tokens.weight").rows;
  for (const auto& words : {tokens, targets})
    for (const std::int32_t word : words)
      require(word >= 0 && word < vocabulary, "write_tokens: there is no word " +
                                                  std::to_string(word) + " among " +
                                                  std::to_string(vocabulary));
  execution.write(tape.named("tokens"), tokens);
  if (targets.empty()) return;
  const Sorted by_word = sorted(tokens, vocabulary);
  execution.write(tape.named("targets"), targets);
  execution.write(tape.named("tokens.order"), std::span<const std::int32_t>(by_word.order));
  execution.write(tape.named("tokens.offsets"), std::span<const std::int32_t>(by_word.offsets));
}

} // namespace kg::models
