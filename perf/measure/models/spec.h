// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which model, of which size and for what: what a command line or a listed case says.
#pragma once

#include "models/model.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace kg::perf {

struct Spec {
  std::string name = {}; // "transformer"
  models::MlpConfig mlp = {};
  std::filesystem::path config = {}; // of a transformer: the file with its sizes
  std::int64_t batch = 1, sequence = 32, size = 224;
  Layout layout = Layout::nhwc;
  models::Batchnorms batchnorms = models::Batchnorms::folded; // of images, in inference
  Dtype dtype = Dtype::f32;                                   // of parameters and activations
  bool training = false;
  std::int64_t steps = 1;    // of training, in one run
  std::int64_t generate = 0; // tokens behind each prompt; 0: none
};

bool takes_images(const Spec& spec);

// Throws Error where there is no such model.
models::Model made(const Spec& spec);

std::string about(const Spec& spec); // " (reduced.json, batch 1, sequence 32)"

// "model.f32.transformer_reduced_batch1_sequence32_training"
std::string case_id(const Spec& spec);

} // namespace kg::perf
