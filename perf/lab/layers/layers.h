// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Language models by their dimensions (layers.csv, with each row's source), and the problems of one
// layer of each model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kg::layers {

enum class Block { llama, gpt2 };
enum class Bias { none, qkv, all }; // which GEMMs have a bias

struct Model {
  std::string name;
  std::int64_t layers, hidden, heads, kv_heads, depth, intermediate; // depth: head dimension
  std::int64_t experts, per_token;                                   // 1: not a mixture of experts
  std::int64_t vocab, context;
  Block block;
  Bias bias;
  std::string dtype; // of the published weights
  std::string source;
};

// In the order of the file. Throws Error with the wrong line.
const std::vector<Model>& models();
std::vector<Model> read_models(std::string_view csv, const std::string& file);

// Throws Error naming the nearest model and all others if the name is unknown.
const Model& model_named(std::string_view name);

// A prompt of one sequence, and a decoding step of several sequences with `keys` tokens each; at
// most the model's context length.
struct Load {
  std::int64_t tokens, sequences, keys;
};
// The measured load: on a GPU a prompt of 2048 tokens, and a step of 32 sequences of 4096. On the
// host, where kernels are ten thousand times slower, 16 tokens, and 2 sequences of 128.
Load usual_load();

struct Problem {
  std::string op, shape;
  std::string dtype; // the model's; for operations that only move data, a type of the same size

  friend bool operator==(const Problem&, const Problem&) = default;
};

// The problems of a prompt, then of a step, in the order of a layer, each once. `dtype`: of the
// tensors instead of the model's; empty: the model's.
std::vector<Problem> layer_of(const Model& model, const Load& load, std::string_view dtype = "");

} // namespace kg::layers
