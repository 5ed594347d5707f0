// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports a model for other frameworks: its weights, its inputs and the expected results.
//
//   models.json           for each case: id, dtype, bytes, flops, inputs, expected extents
//   CASE/weights          safetensors, under the names of Hugging Face and torchvision
//   CASE/config           transformers only: Hugging Face's config.json
//   CASE/x, tokens, ...   the bytes of an input; images are channels-first (NCHW)
//   CASE/expected         f32: the output, or the training losses before each step and after
//                         the last step
#pragma once

#include "models/execution.h"
#include "models/safetensors.h"
#include "perf/measure/models/spec.h"

#include <filesystem>
#include <vector>

namespace kg::perf {

// The model's inputs. Images are channels-first (NCHW) for every layout of the model.
std::vector<models::NamedArray> inputs_of(const models::Execution& execution, const Spec& spec);

void export_models(const std::filesystem::path& folder, const std::vector<Spec>& specs);

} // namespace kg::perf
