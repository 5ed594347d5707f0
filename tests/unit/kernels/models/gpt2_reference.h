// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// GPT-2 in plain loops over T: matrices by inputs, as its files have them, the heads of queries,
// keys and values cut out of one product.
#pragma once

#include "tests/unit/kernels/models/reference.h"

#include <numbers>

namespace kg::test::reference {

// x W + b.
template <class T>
Rows<T> by_inputs(const Rows<T>& x, const Weights<T>& w, const std::string& name) {
  const std::vector<T>&weight = w.at(name + ".weight"), &bias = w.at(name + ".bias");
  Rows<T> y;
  for (const std::vector<T>& row : x) {
    y.push_back(bias);
    for (std::size_t in = 0; in < row.size(); ++in)
      for (std::size_t out = 0; out < bias.size(); ++out)
        y.back()[out] += row[in] * weight[in * bias.size() + out];
  }
  return y;
}

template <class T>
Rows<T> layernorm(Rows<T> x, const Weights<T>& w, const std::string& name, double epsilon) {
  const std::vector<T>&gamma = w.at(name + ".weight"), &beta = w.at(name + ".bias");
  for (std::vector<T>& row : x) {
    const T count = static_cast<double>(row.size());
    T sum = 0.0, squares = 0.0;
    for (const T& each : row) sum += each;
    const T mean = sum / count;
    for (const T& each : row) squares += (each - mean) * (each - mean);
    const T deviation = sqrt_of(squares / count + T(epsilon));
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = (row[i] - mean) / deviation * gamma[i] + beta[i];
  }
  return x;
}

// Hendrycks and Gimpel, arXiv 1606.08415, section 2.
template <class T>
T gelu_tanh(T x) {
  const T inner = T(std::sqrt(2 / std::numbers::pi)) * (x + T(0.044715) * x * x * x);
  return T(0.5) * x * (T(1.0) + tanh_of(inner));
}

template <class T>
Rows<T> columns(const Rows<T>& x, std::size_t first, std::size_t count) {
  Rows<T> y;
  for (const std::vector<T>& row : x) {
    const auto begin = row.begin() + static_cast<std::ptrdiff_t>(first);
    y.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return y;
}

template <class T>
Rows<T> gpt2(const Weights<T>& w, const models::TransformerConfig& config, Shape shape,
             std::span<const std::int32_t> tokens) {
  const std::vector<T>&words = w.at("transformer.wte.weight"),
        &places = w.at("transformer.wpe.weight");
  const auto hidden = static_cast<std::size_t>(config.hidden);
  const auto heads = static_cast<std::size_t>(config.heads);
  Rows<T> x;
  for (std::size_t token = 0; token < tokens.size(); ++token) {
    x.emplace_back();
    for (std::size_t i = 0; i < hidden; ++i)
      x.back().push_back(words[static_cast<std::size_t>(tokens[token]) * hidden + i] +
                         places[token % shape.sequence * hidden + i]);
  }
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string name = "transformer.h." + std::to_string(layer) + ".";
    const Rows<T> qkv =
        by_inputs(layernorm(x, w, name + "ln_1", config.epsilon), w, name + "attn.c_attn");
    add(x, by_inputs(attend(columns(qkv, 0, hidden), columns(qkv, hidden, hidden),
                            columns(qkv, 2 * hidden, hidden), heads, heads, shape),
                     w, name + "attn.c_proj"));
    Rows<T> inner = by_inputs(layernorm(x, w, name + "ln_2", config.epsilon), w, name + "mlp.c_fc");
    for (std::vector<T>& row : inner)
      for (T& each : row) each = gelu_tanh(each);
    add(x, by_inputs(inner, w, name + "mlp.c_proj"));
  }
  return linear(layernorm(x, w, "transformer.ln_f", config.epsilon), words);
}

// The logits of each token.
template <class T>
Rows<T> transformer(const Weights<T>& w, const models::TransformerConfig& config, Shape shape,
                    std::span<const std::int32_t> tokens) {
  return config.family == models::Family::gpt2 ? gpt2(w, config, shape, tokens)
                                               : llama(w, config, shape, tokens);
}

} // namespace kg::test::reference
