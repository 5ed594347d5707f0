// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sizes of a transformer, as given by Hugging Face's config.json.
#pragma once

#include "runtime/dtype.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace kg::models {

// The structure of the blocks (llama.cu, gpt2.cu); qwen2 is llama with biases.
enum class Family { llama, gpt2 };

struct TransformerConfig {
  Family family = Family::llama; // model_type
  std::int64_t vocabulary = 0;   // vocab_size
  std::int64_t hidden = 0;       // hidden_size; gpt2: n_embd
  std::int64_t intermediate = 0; // intermediate_size; n_inner
  std::int64_t layers = 0;       // num_hidden_layers; n_layer
  std::int64_t heads = 0;        // num_attention_heads; n_head
  std::int64_t kv_heads = 0;     // num_key_value_heads
  std::int64_t head_dim = 0;     // head_dim, or hidden_size / num_attention_heads
  float epsilon = 0;             // rms_norm_eps; layer_norm_epsilon
  double theta = 0;              // rope_theta
  bool qkv_bias = false;         // attention_bias; default true for qwen2, always for gpt2
  bool tied = false;             // tie_word_embeddings; always for gpt2
  std::int64_t positions = 0;    // gpt2: n_positions, the longest sequence
  bool dropout = false;          // gpt2: whether training uses dropout (..._pdrop)
  Dtype dtype = Dtype::f32;      // of parameters and activations; not read from the file
};

// Throws Error naming the file and the member if one is missing, of the wrong type or out of range,
// or requests a feature that this decoder does not support. Members that do not affect the result
// are ignored.
TransformerConfig read_transformer_config(const std::filesystem::path& file);
TransformerConfig parse_transformer_config(const std::string& text, const std::string& file);

} // namespace kg::models
