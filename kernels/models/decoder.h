// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What decoders of all families share. Each family's stack reads like its paper's figure, in a file
// of its own.
#pragma once

#include "models/layers.h"
#include "models/transformer_config.h"

#include <cstdint>
#include <vector>

namespace kg::models {

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

Heads heads_of(const TransformerConfig& config);

// Uniform with a standard deviation of 0.02, the initializer_range of these models; biases and
// norms, which begin with 0 and 1 there, vary here, so that a test can see what they do.
inline constexpr double kSpread = 0.0346;

// Each token looks at those before it and at itself.
Tensor look_back(const Stage& at, std::int64_t layer, Tensor qkv);
// From the last norm to one logit per word of the vocabulary, for each token, or where the model
// generates, for each sequence's last.
Tensor logits(const Stage& at, Tensor normed, Tensor words);

// The stacks, from words to logits, and the names of their tables of words.
inline constexpr const char* kLlamaWords = "model.embed_tokens.weight";
Tensor llama(const Stage& at);
inline constexpr const char* kGpt2Words = "transformer.wte.weight";
Tensor gpt2(const Stage& at);

} // namespace kg::models
