// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Layers of convolutional networks. Elements have the input's type: f32, f16 or bf16. A batchnorm's
// per-channel parameters and statistics are always f32.
#pragma once

#include "models/tape.h"
#include "primitives/layout.h"

#include <cstdint>
#include <string>

namespace kg::models {

// A batch of images: each row of the tensor is one image, in the order of `layout`.
struct Images {
  Tensor tensor;
  std::int64_t channels = 0, height = 0, width = 0;
  Layout layout = Layout::nchw;
  std::int64_t places() const { return height * width; }
};

struct Window {
  std::int64_t kernel = 1, stride = 1, padding = 0;
};

// Parameters: `name`.weight and, with a bias, `name`.bias. The weights' spread is `gain` times that
// of He et al., arXiv 1502.01852, which preserves the magnitude of activations.
struct Convolution {
  std::int64_t channels = 0;
  Window window = {};
  double gain = 1;
  bool bias = true;
};
Images convolution(Tape& tape, const std::string& name, const Images& x, const Convolution& what);

// The mean and variance that a batchnorm uses. Training uses those of the batch, and also updates
// the running statistics.
enum class Statistics { batch, running };
// Parameters: `name`.weight (around `gain`), .bias, .running_mean and .running_var.
Images batchnorm(Tape& tape, const std::string& name, const Images& x, Statistics statistics,
                 double gain = 1);

Images relu(Tape& tape, const Images& x);
Images add(Tape& tape, const Images& a, const Images& b);
Images max_pool(Tape& tape, const Images& x, Window window);
Images global_average(Tape& tape, const Images& x); // leaves one value per channel

// A linear layer over a whole image, with parameters `name`.weight and `name`.bias. Files store the
// input features channel by channel, whatever the layout.
Images classify(Tape& tape, const std::string& name, const Images& x, std::int64_t features);

} // namespace kg::models
