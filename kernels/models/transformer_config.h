// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sizes of a transformer, as Hugging Face's config.json gives them.
#pragma once

#include "runtime/dtype.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace kg::models {

// Which figure its blocks follow (llama.cu, gpt2.cu); qwen2 is llama with biases.
enum class Family { llama, gpt2 };

struct TransformerConfig {
  Family family = Family::llama; // model_type
  std::int64_t vocabulary = 0;   // vocab_size
  std::int64_t hidden = 0;       // hidden_size; of gpt2 n_embd
  std::int64_t intermediate = 0; // intermediate_size; n_inner
  std::int64_t layers = 0;       // num_hidden_layers; n_layer
  std::int64_t heads = 0;        // num_attention_heads; n_head
  std::int64_t kv_heads = 0;     // num_key_value_heads
  std::int64_t head_dim = 0;     // head_dim, or hidden_size / num_attention_heads
  float epsilon = 0;             // rms_norm_eps; layer_norm_epsilon
  double theta = 0;              // rope_theta
  bool qkv_bias = false;         // attention_bias; of qwen2 always
  bool tied = false;             // tie_word_embeddings
  std::int64_t positions = 0;    // of gpt2: n_positions, the longest sequence
  bool dropout = false;          // of gpt2: whether training drops activations (..._pdrop)
  Dtype dtype = Dtype::f32;      // of parameters and activations; no file says it
};

// Throws Error naming the file and the member where one is missing, of the wrong type or out of
// range, and where one asks for something that this decoder does not do. Members that do not change
// what is computed are passed over.
TransformerConfig read_transformer_config(const std::filesystem::path& file);
TransformerConfig parse_transformer_config(const std::string& text, const std::string& file);

} // namespace kg::models
