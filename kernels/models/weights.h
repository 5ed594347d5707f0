// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Saves and loads a model's parameters as safetensors files, one array per part.
#pragma once

#include "models/execution.h"

#include <filesystem>

namespace kg::models {

void save_weights(const Execution& execution, const std::filesystem::path& file);

// Throws Error naming an array that is missing, has another shape or type, or is not part of the
// model, so that the file of another model is rejected. Names may lack the prefix "transformer.";
// attention masks and batch counts are ignored.
void load_weights(Execution& execution, const std::filesystem::path& file);

} // namespace kg::models
