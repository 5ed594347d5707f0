// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The available models. Each records its layers on a tape and names its inputs and outputs.
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
  Tensor loss = {};      // kept; null for inference
  std::string item = {}; // the unit of `items`: "samples", "tokens"
  std::int64_t items = 0;
  std::int64_t decoded = 0; // items per run of phase decode; 0: no such phase
  std::int64_t decodes = 0; // the useful number of runs of phase decode
  std::int64_t cache_bytes = 0;
  // Writes random inputs that depend only on the seed.
  std::function<void(Execution&, std::uint64_t seed)> fill_inputs = {};
};

// A stack of dim x dim linear layers, each followed by a bias and a gelu. The loss is the mean
// square error against a target.
struct MlpConfig {
  std::int64_t dim = 256;
  std::int64_t layers = 4;
  std::int64_t batch = 256;
  Dtype dtype = Dtype::f32;
};
Model mlp(const MlpConfig& config, Purpose purpose);

// A Llama, Qwen2 or GPT-2 decoder over `batch` sequences of `sequence` tokens. The loss is the mean
// cross entropy of each next token. Parameters have the names of Hugging Face's files.
Model transformer(const TransformerConfig& config, std::int64_t batch, std::int64_t sequence,
                  Purpose purpose);

// The same decoder for generation. Phase forward reads the prompts and chooses the first token
// after each. Phase decode adds one token per sequence, using cached keys and values. Decoding is
// greedy. Parameters and prompts ("tokens") are those of `transformer`.
struct Prompts {
  std::int64_t batch = 1;
  std::int64_t length = 1;    // tokens per prompt
  std::int64_t generated = 2; // tokens after each prompt
};
struct Generator {
  Model model;        // its output: the logits of the first generated tokens
  Tensor logits = {}; // of phase decode; kept
  Tensor words = {};  // a row per sequence: the prompt and the tokens generated so far
};
Generator generator(const TransformerConfig& config, const Prompts& prompts);

// folded: the preceding convolution's bias stands for each batchnorm. running: inference uses the
// running statistics. Training always uses the statistics of the batch.
enum class Batchnorms { folded, running, batch };

// An image network. The loss is the mean cross entropy of each image's class.
struct ImageConfig {
  std::int64_t batch = 1;
  std::int64_t size = 224; // height and width
  std::int64_t classes = 1000;
  std::int64_t narrower = 1; // divides every channel count; 1 is the network of the paper
  Layout layout = Layout::nhwc;
  Batchnorms batchnorms = Batchnorms::folded;
  Dtype dtype = Dtype::f32;
};
Model resnet(int depth, const ImageConfig& config, // 18, 50 or 101
             Purpose purpose = Purpose::inference);
Model alexnet(const ImageConfig& config, Purpose purpose = Purpose::inference);

// Writes a transformer's tokens and, for training, the targets and the sorted tokens that the
// gradient needs. Throws Error on a token outside the vocabulary.
void write_tokens(Execution& execution, std::span<const std::int32_t> tokens,
                  std::span<const std::int32_t> targets);

} // namespace kg::models
