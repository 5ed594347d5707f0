// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model for other frameworks to compute: its weights and inputs, and what it must arrive at.
//
//   models.json           of each case its id, dtype, bytes, flops, inputs and expected extents
//   CASE/weights          safetensors, under the names of Hugging Face and torchvision
//   CASE/config           of a transformer: config.json of Hugging Face
//   CASE/x, tokens, ...   the bytes of an input; images have their channels first
//   CASE/expected         f32: the output, or the losses of training, before each step and behind
//   all
#pragma once

#include "models/execution.h"
#include "models/safetensors.h"
#include "perf/measure/models/spec.h"

#include <filesystem>
#include <vector>

namespace kg::perf {

// The model's inputs, images with their channels first whatever its layout.
std::vector<models::NamedArray> inputs_of(const models::Execution& execution, const Spec& spec);

void export_models(const std::filesystem::path& folder, const std::vector<Spec>& specs);

} // namespace kg::perf
