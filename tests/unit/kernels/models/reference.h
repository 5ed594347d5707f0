// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The models once more, in plain loops over T: double, or a Scalar that gradients come from.
// Written from the papers' formulas and not from kernels/models: weights by their names in files,
// no fused matrices, one head at a time, softmax over whole rows.
#pragma once

#include "models/transformer_config.h"
#include "tests/unit/kernels/models/scalar.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kg::test {

template <class T>
using Rows = std::vector<std::vector<T>>;
template <class T>
using Weights = std::map<std::string, std::vector<T>>; // row by row, as files hold them

namespace reference {

template <class T>
T dot(const std::vector<T>& x, const T* w) {
  T sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * w[i];
  return sum;
}

// x W^T, plus a bias where there is one.
template <class T>
Rows<T> linear(const Rows<T>& x, const std::vector<T>& w, const std::vector<T>* bias = nullptr) {
  Rows<T> y(x.size());
  for (std::size_t row = 0; row < x.size(); ++row)
    for (std::size_t out = 0; out < w.size() / x[row].size(); ++out) {
      const T product = dot(x[row], &w[out * x[row].size()]);
      y[row].push_back(bias ? product + (*bias)[out] : product);
    }
  return y;
}

template <class T>
T gelu(T x) {
  return T(0.5) * x * (T(1.0) + erf_of(x / T(std::sqrt(2.0))));
}
template <class T>
T silu(T x) {
  return x / (T(1.0) + exp_of(T(0.0) - x));
}

template <class T>
Rows<T> rmsnorm(const Rows<T>& x, const std::vector<T>& gamma, double epsilon) {
  Rows<T> y = x;
  for (std::vector<T>& row : y) {
    T squares = 0.0;
    for (const T& each : row) squares += each * each;
    const T root = sqrt_of(squares / T(static_cast<double>(row.size())) + T(epsilon));
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = row[i] / root * gamma[i];
  }
  return y;
}

template <class T>
void add(Rows<T>& x, const Rows<T>& y) {
  for (std::size_t row = 0; row < x.size(); ++row)
    for (std::size_t i = 0; i < x[row].size(); ++i) x[row][i] += y[row][i];
}

// exp(x - greatest) / sum of these.
template <class T>
void softmax(std::vector<T>& x) {
  double greatest = value_of(x.front());
  for (const T& each : x) greatest = std::max(greatest, value_of(each));
  T sum = 0.0;
  for (T& each : x) sum += each = exp_of(each - T(greatest));
  for (T& each : x) each = each / sum;
}

template <class T>
T squared_error(const Rows<T>& y, std::span<const float> target) {
  T sum = 0.0;
  std::size_t at = 0;
  for (const std::vector<T>& row : y)
    for (const T& each : row) {
      const T distance = each - T(target[at++]);
      sum += distance * distance;
    }
  return sum / T(static_cast<double>(at));
}

template <class T>
T cross_entropy(const Rows<T>& logits, std::span<const std::int32_t> target) {
  T sum = 0.0;
  for (std::size_t row = 0; row < logits.size(); ++row) {
    std::vector<T> probabilities = logits[row];
    softmax(probabilities);
    sum += T(0.0) - log_of(probabilities[static_cast<std::size_t>(target[row])]);
  }
  return sum / T(static_cast<double>(logits.size()));
}

// A head's elements i and i + depth / 2 of a token at `position`, turned by position base^(-2 i /
// depth) (Su et al., arXiv 2104.09864, in the layout of Llama).
template <class T>
void rotate(T* head, std::size_t depth, std::size_t position, double base) {
  for (std::size_t i = 0; i < depth / 2; ++i) {
    const double angle = static_cast<double>(position) /
                         std::pow(base, 2 * static_cast<double>(i) / static_cast<double>(depth));
    const T cosine = std::cos(angle), sine = std::sin(angle);
    const T x1 = head[i], x2 = head[i + depth / 2];
    head[i] = x1 * cosine - x2 * sine;
    head[i + depth / 2] = x1 * sine + x2 * cosine;
  }
}

struct Shape {
  std::size_t batch, sequence;
};

// Causal, of each head over its own columns: queries of `heads` heads, keys and values of
// `kv_heads`, each of which serves equally many.
template <class T>
Rows<T> attend(const Rows<T>& q, const Rows<T>& k, const Rows<T>& v, std::size_t heads,
               std::size_t kv_heads, Shape shape) {
  const std::size_t depth = q.front().size() / heads;
  Rows<T> out(q.size(), std::vector<T>(heads * depth, T(0.0)));
  for (std::size_t token = 0; token < q.size(); ++token)
    for (std::size_t h = 0; h < heads; ++h) {
      const std::size_t kv = h / (heads / kv_heads) * depth; // where its keys and values stand
      const std::size_t first = token / shape.sequence * shape.sequence;
      std::vector<T> weights;
      for (std::size_t key = first; key <= token; ++key) {
        T score = 0.0;
        for (std::size_t i = 0; i < depth; ++i) score += q[token][h * depth + i] * k[key][kv + i];
        weights.push_back(score / T(std::sqrt(static_cast<double>(depth))));
      }
      softmax(weights);
      for (std::size_t key = first; key <= token; ++key)
        for (std::size_t i = 0; i < depth; ++i)
          out[token][h * depth + i] += weights[key - first] * v[key][kv + i];
    }
  return out;
}

template <class T>
Rows<T> attention(const Rows<T>& x, const Weights<T>& w, const std::string& name,
                  const models::TransformerConfig& config, Shape shape) {
  const auto depth = static_cast<std::size_t>(config.head_dim);
  const auto heads = static_cast<std::size_t>(config.heads);
  const auto kv_heads = static_cast<std::size_t>(config.kv_heads);
  const auto project = [&](const char* which) {
    const auto bias = w.find(name + which + ".bias");
    return linear(x, w.at(name + which + ".weight"), bias == w.end() ? nullptr : &bias->second);
  };
  Rows<T> q = project("q_proj"), k = project("k_proj");
  const Rows<T> v = project("v_proj");
  for (std::size_t token = 0; token < x.size(); ++token) {
    for (std::size_t h = 0; h < heads; ++h)
      rotate(&q[token][h * depth], depth, token % shape.sequence, config.theta);
    for (std::size_t h = 0; h < kv_heads; ++h)
      rotate(&k[token][h * depth], depth, token % shape.sequence, config.theta);
  }
  return linear(attend(q, k, v, heads, kv_heads, shape), w.at(name + "o_proj.weight"));
}

template <class T>
Rows<T> feed_forward(const Rows<T>& x, const Weights<T>& w, const std::string& name) {
  Rows<T> gate = linear(x, w.at(name + "gate_proj.weight"));
  const Rows<T> up = linear(x, w.at(name + "up_proj.weight"));
  for (std::size_t row = 0; row < gate.size(); ++row)
    for (std::size_t i = 0; i < gate[row].size(); ++i)
      gate[row][i] = silu(gate[row][i]) * up[row][i];
  return linear(gate, w.at(name + "down_proj.weight"));
}

// The logits of each token, of a decoder of the Llama kind.
template <class T>
Rows<T> llama(const Weights<T>& w, const models::TransformerConfig& config, Shape shape,
              std::span<const std::int32_t> tokens) {
  const std::vector<T>& words = w.at("model.embed_tokens.weight");
  const auto hidden = static_cast<std::size_t>(config.hidden);
  Rows<T> x;
  for (const std::int32_t token : tokens) {
    const auto first = words.begin() + token * config.hidden;
    x.emplace_back(first, first + static_cast<std::ptrdiff_t>(hidden));
  }
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string name = "model.layers." + std::to_string(layer) + ".";
    const auto norm = [&](const char* which) {
      return rmsnorm(x, w.at(name + which + ".weight"), config.epsilon);
    };
    add(x, attention(norm("input_layernorm"), w, name + "self_attn.", config, shape));
    add(x, feed_forward(norm("post_attention_layernorm"), w, name + "mlp."));
  }
  x = rmsnorm(x, w.at("model.norm.weight"), config.epsilon);
  return linear(x, config.tied ? words : w.at("lm_head.weight"));
}

template <class T>
Rows<T> mlp(const Weights<T>& w, std::size_t layers, Rows<T> x) {
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::string name = "layers." + std::to_string(layer);
    x = linear(x, w.at(name + ".weight"), &w.at(name + ".bias"));
    for (std::vector<T>& row : x)
      for (T& each : row) each = gelu(each);
  }
  return x;
}

} // namespace reference
} // namespace kg::test
