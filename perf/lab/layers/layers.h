// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Language models by their numbers (layers.csv, with where each row comes from), and the problems
// that one layer of each consists of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kg::layers {

enum class Block { llama, gpt2 };
enum class Bias { none, qkv, all }; // which products have one

struct Model {
  std::string name;
  std::int64_t layers, hidden, heads, kv_heads, depth, intermediate; // depth: of a head
  std::int64_t experts, per_token;                                   // 1: no experts
  std::int64_t vocab, context;
  Block block;
  Bias bias;
  std::string dtype; // in which it is published
  std::string source;
};

// In the order of the file. Throws Error with its line where that is wrong.
const std::vector<Model>& models();
std::vector<Model> read_models(std::string_view csv, const std::string& file);

// Throws Error, which names the nearest one and all, where there is none of that name.
const Model& model_named(std::string_view name);

// A prompt of one sequence, and a step of several that have `keys` tokens already: as long as the
// model's context, at the most.
struct Load {
  std::int64_t tokens, sequences, keys;
};
// What is measured: on a GPU a prompt of 2048 tokens, and a step of 32 sequences of 4096. On the
// host, where a kernel takes ten thousand times as long, 16 tokens, and 2 sequences of 128.
Load usual_load();

struct Problem {
  std::string op, shape;
  std::string dtype; // the model's; of what moves data alone one of its size

  friend bool operator==(const Problem&, const Problem&) = default;
};

// Those of a prompt, then those of a step, in the order in which a layer has them, each once.
// `dtype`: of the tensors, in place of the model's; empty: the model's.
std::vector<Problem> layer_of(const Model& model, const Load& load, std::string_view dtype = "");

} // namespace kg::layers
