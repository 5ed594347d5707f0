// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Code shared by all decoder families. Each family's stack follows its paper's figure, in a
// separate file (llama.cu, gpt2.cu).
#pragma once

#include "models/layers.h"
#include "models/transformer_config.h"

#include <cstdint>
#include <vector>

namespace kg::models {

// The state of generation: one key/value cache per layer, and the sequences' token counts.
struct Memory {
  std::vector<Cache> layers;
  Progress progress;
};

// The context of all blocks.
struct Stage {
  Tape& tape;
  const TransformerConfig& config;
  const Tokens& tokens;
  const Positions& positions;
  const Memory* memory = nullptr; // only for generation
  bool decodes = false;           // only the newest token of each sequence
};

Heads heads_of(const TransformerConfig& config);

// Uniform with a standard deviation of 0.02, the initializer_range of these models. Biases and
// norms vary around their usual 0 and 1, so that tests detect their effect.
inline constexpr double kSpread = 0.0346;

// Causal self-attention: each token attends to itself and to all earlier tokens.
Tensor look_back(const Stage& at, std::int64_t layer, Tensor qkv);
// One logit per vocabulary entry from the output of the last norm, for each token. Generation
// computes the logits of each sequence's last token only.
Tensor logits(const Stage& at, Tensor normed, Tensor words);

// The stacks, from token ids to logits, and the names of their embedding tables.
inline constexpr const char* kLlamaWords = "model.embed_tokens.weight";
Tensor llama(const Stage& at);
inline constexpr const char* kGpt2Words = "transformer.wte.weight";
Tensor gpt2(const Stage& at);

} // namespace kg::models
