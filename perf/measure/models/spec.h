// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which model to run, its sizes and its purpose, from a command line or a listed case.
#pragma once

#include "models/model.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace kg::perf {

struct Spec {
  std::string name = {}; // "transformer"
  models::MlpConfig mlp = {};
  std::filesystem::path config = {}; // transformers: path of the configuration
  std::int64_t batch = 1, sequence = 32, size = 224;
  Layout layout = Layout::nhwc;
  models::Batchnorms batchnorms = models::Batchnorms::folded; // image networks, inference only
  Dtype dtype = Dtype::f32;                                   // of parameters and activations
  bool training = false;
  std::int64_t steps = 1;    // training steps per run
  std::int64_t generate = 0; // tokens generated after each prompt; 0: none
};

bool takes_images(const Spec& spec);

// Throws Error if the model does not exist.
models::Model made(const Spec& spec);

std::string about(const Spec& spec); // " (reduced.json, batch 1, sequence 32)"

// "model.f32.transformer_reduced_batch1_sequence32_training"
std::string case_id(const Spec& spec);

} // namespace kg::perf
