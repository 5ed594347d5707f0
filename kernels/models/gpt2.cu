// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// GPT-2: Radford et al., "Language models are unsupervised multitask learners", 2019, section 2.3:
// the decoder of Vaswani et al., arXiv 1706.03762, with a norm before each block and a last one,
// learned positions, and the gelu of Hendrycks and Gimpel, arXiv 1606.08415, in its tanh form. Its
// files store each weight matrix with one row per input.
#include "models/decoder.h"

#include <string>

namespace kg::models {
namespace {

Tensor bias_of(const Stage& at, const std::string& name, std::int64_t outputs) {
  return vector(at.tape, {{name + ".bias", outputs}}, 0, kSpread, at.config.dtype);
}

Tensor weight_of(const Stage& at, const std::string& name, std::int64_t inputs,
                 std::int64_t outputs) {
  return at.tape.parameter({.value = {-1, outputs, inputs, at.config.dtype},
                            .parts = {{name + ".weight", outputs}},
                            .inner = {inputs},
                            .by_inputs = true,
                            .spread = kSpread});
}

Tensor projection(const Stage& at, const std::string& name, Tensor x, std::int64_t outputs) {
  return linear(at.tape, x, weight_of(at, name, x.cols, outputs), bias_of(at, name, outputs));
}

Tensor norm(const Stage& at, const std::string& name, Tensor x) {
  const Tensor gamma = vector(at.tape, {{name + ".weight", x.cols}}, 1, kSpread, x.dtype);
  return layernorm(at.tape, x, gamma, bias_of(at, name, x.cols), at.config.epsilon);
}

Tensor self_attention(const Stage& at, std::int64_t layer, const std::string& name, Tensor x) {
  const Layer here(at.tape, "attn");
  const Tensor qkv = projection(at, name + ".c_attn", x, heads_of(at.config).width());
  return projection(at, name + ".c_proj", look_back(at, layer, qkv), x.cols);
}

Tensor feed_forward(const Stage& at, const std::string& name, Tensor x) {
  const Layer here(at.tape, "mlp");
  const std::int64_t wide = at.config.intermediate;
  const std::string in = name + ".c_fc";
  const Tensor inner = linear(at.tape, x, weight_of(at, in, x.cols, wide));
  return projection(at, name + ".c_proj",
                    bias_gelu(at.tape, inner, bias_of(at, in, wide), kg::bias_gelu::Form::tanh),
                    x.cols);
}

} // namespace

Tensor gpt2(const Stage& at) {
  Tape& tape = at.tape;
  const TransformerConfig& config = at.config;
  const Tensor words =
      weight(tape, {{kGpt2Words, config.vocabulary}}, config.hidden, kSpread, config.dtype);
  const Tensor places = weight(tape, {{"transformer.wpe.weight", config.positions}}, config.hidden,
                               kSpread, config.dtype);
  Tensor x = add(tape, embed(tape, words, at.tokens), embed(tape, places, at.positions.learned));
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string name = "transformer.h." + std::to_string(i);
    const Layer here(tape, "h." + std::to_string(i));
    x = add(tape, x, self_attention(at, i, name + ".attn", norm(at, name + ".ln_1", x)));
    x = add(tape, x, feed_forward(at, name + ".mlp", norm(at, name + ".ln_2", x)));
  }
  return logits(at, norm(at, "transformer.ln_f", x), words);
}

} // namespace kg::models
