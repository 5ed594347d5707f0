// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/transformer_config.h"

#include "models/json.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace kg::models {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 24; // of any extent: products stay below 2^63

class Members {
 public:
  Members(const nlohmann::json& object, std::string file)
      : object_(object), file_(std::move(file)) {}

  std::int64_t extent(const char* name) const {
    const nlohmann::json& value = member(name);
    if (!value.is_number_integer() || value < 1 || value > kMost)
      refuse(name, "must be a whole number from 1 to " + std::to_string(kMost));
    return value.get<std::int64_t>();
  }
  std::int64_t extent_or(const char* name, std::int64_t otherwise) const {
    return has(name) ? extent(name) : otherwise;
  }
  double number(const char* name) const {
    const nlohmann::json& value = member(name);
    if (!value.is_number()) refuse(name, "must be a number");
    return value.get<double>();
  }
  double positive(const char* name) const {
    const nlohmann::json& value = member(name);
    if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>()))
      refuse(name, "must be a number above 0");
    return value.get<double>();
  }
  bool flag_or(const char* name, bool otherwise) const {
    if (!has(name)) return otherwise;
    if (!object_.at(name).is_boolean()) refuse(name, "must be true or false");
    return object_.at(name).get<bool>();
  }
  std::string word(const char* name) const {
    if (!member(name).is_string()) refuse(name, "must be a text");
    return object_.at(name).get<std::string>();
  }
  bool has(const char* name) const { return object_.contains(name) && !object_.at(name).is_null(); }

  [[noreturn]] void refuse(const char* name, const std::string& why) const {
    throw Error(file_ + ": " + name + " " + why);
  }

 private:
  const nlohmann::json& member(const char* name) const {
    if (!has(name)) refuse(name, "is missing");
    return object_.at(name);
  }

  const nlohmann::json& object_;
  const std::string file_;
};

// Rejects unsupported features that would change the formula.
void require_gpt2(const Members& members) {
  const std::string function = members.word("activation_function");
  if (function != "gelu_new" && function != "gelu_pytorch_tanh") // two names for one function
    members.refuse("activation_function", "must be \"gelu_new\"");
  for (const char* name : {"scale_attn_by_inverse_layer_idx", "add_cross_attention"})
    if (members.flag_or(name, false)) members.refuse(name, "is true, which is not done here");
  for (const char* name : {"scale_attn_weights", "tie_word_embeddings"})
    if (!members.flag_or(name, true)) members.refuse(name, "is false, which is not done here");
}

TransformerConfig gpt2(const Members& members) {
  require_gpt2(members);
  TransformerConfig config{.family = Family::gpt2};
  config.vocabulary = members.extent("vocab_size");
  config.hidden = members.extent("n_embd");
  config.intermediate = members.extent_or("n_inner", 4 * config.hidden);
  config.layers = members.extent("n_layer");
  config.heads = config.kv_heads = members.extent("n_head");
  config.head_dim = config.hidden / config.heads;
  config.epsilon = static_cast<float>(members.positive("layer_norm_epsilon"));
  config.qkv_bias = config.tied = true;
  config.positions = members.extent("n_positions");
  for (const char* name : {"attn_pdrop", "embd_pdrop", "resid_pdrop"}) // default: 0.1
    config.dropout = config.dropout || !members.has(name) || members.number(name) != 0;
  if (config.hidden % config.heads != 0) members.refuse("n_head", "must divide n_embd");
  return config;
}

void require_this_decoder(const Members& members) {
  const std::string type = members.word("model_type");
  if (type != "qwen2" && type != "llama")
    members.refuse("model_type", "is \"" + type + "\"; there are qwen2, llama and gpt2");
  if (members.word("hidden_act") != "silu") members.refuse("hidden_act", "must be \"silu\"");
  for (const char* name : {"use_sliding_window", "mlp_bias"})
    if (members.flag_or(name, false)) members.refuse(name, "is true, which is not done here");
  if (members.has("rope_scaling")) members.refuse("rope_scaling", "is given; it is not done here");
}

} // namespace

TransformerConfig parse_transformer_config(const std::string& text, const std::string& file) {
  const nlohmann::json object = parse_object(text, file);
  const Members members(object, file);
  if (members.word("model_type") == "gpt2") return gpt2(members);
  require_this_decoder(members);
  TransformerConfig config;
  config.vocabulary = members.extent("vocab_size");
  config.hidden = members.extent("hidden_size");
  config.intermediate = members.extent("intermediate_size");
  config.layers = members.extent("num_hidden_layers");
  config.heads = members.extent("num_attention_heads");
  config.kv_heads = members.extent_or("num_key_value_heads", config.heads);
  config.head_dim = members.extent_or("head_dim", config.hidden / config.heads);
  config.epsilon = static_cast<float>(members.positive("rms_norm_eps"));
  config.theta = members.positive("rope_theta");
  const bool qwen = members.word("model_type") == "qwen2";
  config.qkv_bias = members.flag_or("attention_bias", qwen);
  config.tied = members.flag_or("tie_word_embeddings", false);
  if (config.heads % config.kv_heads != 0)
    members.refuse("num_key_value_heads", "must divide num_attention_heads");
  if (!members.has("head_dim") && config.hidden % config.heads != 0)
    members.refuse("num_attention_heads", "must divide hidden_size if head_dim is missing");
  if (config.head_dim % 2 != 0) members.refuse("head_dim", "must be even for rotary positions");
  return config;
}

TransformerConfig read_transformer_config(const std::filesystem::path& file) {
  const auto text = read_file(file);
  if (!text) throw Error(file.string() + ": no such file");
  return parse_transformer_config(*text, file.string());
}

} // namespace kg::models
