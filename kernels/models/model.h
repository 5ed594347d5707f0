// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The models that there are. Each writes its layers on a tape, and says what goes in and comes out.
#pragma once

#include "models/execution.h"
#include "models/tape.h"
#include "models/transformer_config.h"
#include "primitives/layout.h"

#include <cstdint>
#include <functional>
#include <string>

namespace kg::models {

enum class Purpose { inference, training }; // training: with loss, gradients and the update

struct Model {
  std::string name;
  Tape tape = {};
  Tensor output = {};    // kept
  Tensor loss = {};      // kept; none for inference
  std::string item = {}; // what a run is counted in: "samples", "tokens"
  std::int64_t items = 0;
  std::int64_t decoded = 0; // items of a run of phase decode; 0: it has none
  std::int64_t decodes = 0; // so many of these runs make sense
  std::int64_t cache_bytes = 0;
  // Random inputs that depend on the seed alone.
  std::function<void(Execution&, std::uint64_t seed)> fill_inputs = {};
};

// A stack of linear layers of dim x dim, each with a bias and a gelu behind it; its loss is the
// mean square distance from a target.
struct MlpConfig {
  std::int64_t dim = 256;
  std::int64_t layers = 4;
  std::int64_t batch = 256;
  Dtype dtype = Dtype::f32;
};
Model mlp(const MlpConfig& config, Purpose purpose);

// A decoder of the Llama and Qwen kind over `batch` sequences of `sequence` tokens; its loss is the
// mean cross entropy of each next token. Parameters have the names of Hugging Face's files.
Model transformer(const TransformerConfig& config, std::int64_t batch, std::int64_t sequence,
                  Purpose purpose);

// The same decoder as it writes: phase forward takes the prompts and chooses the first token behind
// each, phase decode one more for each, with the keys and values of all before it in caches. It
// chooses the likeliest word. Parameters and prompts ("tokens") are those of `transformer`.
struct Prompts {
  std::int64_t batch = 1;
  std::int64_t length = 1;    // tokens of each
  std::int64_t generated = 2; // behind each
};
struct Generator {
  Model model;        // its output: the logits of the first tokens
  Tensor logits = {}; // those of phase decode; kept
  Tensor words = {};  // a row per sequence: the prompt, and what has been generated so far
};
Generator generator(const TransformerConfig& config, const Prompts& prompts);

// Where batchnorms are folded, each is a bias of the convolution before it. Otherwise inference
// takes their running statistics; training always takes the batch's.
enum class Batchnorms { folded, running, batch };

// A network for images; its loss is the mean cross entropy of each image's class.
struct ImageConfig {
  std::int64_t batch = 1;
  std::int64_t size = 224; // of each side
  std::int64_t classes = 1000;
  std::int64_t narrower = 1; // divides all numbers of channels: 1 is the network of the paper
  Layout layout = Layout::nhwc;
  Batchnorms batchnorms = Batchnorms::folded;
  Dtype dtype = Dtype::f32;
};
Model resnet(int depth, const ImageConfig& config, // 18, 50 or 101
             Purpose purpose = Purpose::inference);
Model alexnet(const ImageConfig& config, Purpose purpose = Purpose::inference);

// Gives a transformer its tokens and, for training, the target of each; what is derived of them,
// too. Throws Error on a token that is no word.
void write_tokens(Execution& execution, std::span<const std::int32_t> tokens,
                  std::span<const std::int32_t> targets);

} // namespace kg::models
