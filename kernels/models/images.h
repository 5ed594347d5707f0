// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Layers of convolutional networks. Elements are those of the input, f32, f16 or bf16; what a
// batchnorm has one of per channel is f32 always.
#pragma once

#include "models/tape.h"
#include "primitives/layout.h"

#include <cstdint>
#include <string>

namespace kg::models {

// A batch of images; a row of the tensor is one of them, in the order that `layout` says.
struct Images {
  Tensor tensor;
  std::int64_t channels = 0, height = 0, width = 0;
  Layout layout = Layout::nchw;
  std::int64_t places() const { return height * width; }
};

struct Window {
  std::int64_t kernel = 1, stride = 1, padding = 0;
};

// With parameters `name`.weight and, where it has a bias, `name`.bias. The weights' spread is that
// of He et al., arXiv 1502.01852, which keeps the size of what comes out, times `gain`.
struct Convolution {
  std::int64_t channels = 0;
  Window window = {};
  double gain = 1;
  bool bias = true;
};
Images convolution(Tape& tape, const std::string& name, const Images& x, const Convolution& what);

// Whose mean and variance a batchnorm takes: the batch's, as training does, which also moves the
// running ones; or the running ones.
enum class Statistics { batch, running };
// With parameters `name`.weight (about `gain`), .bias, .running_mean and .running_var.
Images batchnorm(Tape& tape, const std::string& name, const Images& x, Statistics statistics,
                 double gain = 1);

Images relu(Tape& tape, const Images& x);
Images add(Tape& tape, const Images& a, const Images& b);
Images max_pool(Tape& tape, const Images& x, Window window);
Images global_average(Tape& tape, const Images& x); // one place of each channel is left

// A linear layer over all of an image, with parameters `name`.weight and `name`.bias. Files count
// the features channel by channel, whatever the layout.
Images classify(Tape& tape, const std::string& name, const Images& x, std::int64_t features);

} // namespace kg::models
