// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The decoder of Touvron et al., "LLaMA", arXiv 2302.13971, with the grouped heads of Ainslie et
// al., arXiv 2305.13245, and, if configured, the biases of Qwen2, arXiv 2407.10671: norms before
// the blocks, rotary positions, gated feed-forward blocks.
#include "models/decoder.h"

#include <string>

namespace kg::models {
namespace {

Tensor norm(Tape& tape, const TransformerConfig& config, const std::string& name) {
  return vector(tape, {{name + ".weight", config.hidden}}, 1, kSpread, config.dtype);
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

} // namespace

Tensor llama(const Stage& at) {
  Tape& tape = at.tape;
  const TransformerConfig& config = at.config;
  const Tensor words =
      weight(tape, {{kLlamaWords, config.vocabulary}}, config.hidden, kSpread, config.dtype);
  const Tensor head = config.tied ? words
                                  : weight(tape, {{"lm_head.weight", config.vocabulary}},
                                           config.hidden, kSpread, config.dtype);
  // x: the residual stream. last: the previous block's output; the next norm's kernel adds it to x.
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
  return logits(at, add_and_norm("model.norm"), head);
}

} // namespace kg::models
