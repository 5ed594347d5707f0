// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model's parameters in safetensors files, under the names of their parts.
#pragma once

#include "models/execution.h"

#include <filesystem>

namespace kg::models {

void save_weights(const Execution& execution, const std::filesystem::path& file);

// Throws Error naming the array that is missing, has another shape or type, or is no part of the
// model: a file of another model must not pass for this one's. Names may lack a "transformer." at
// their beginning; masks of attention and counts of batches are passed over.
void load_weights(Execution& execution, const std::filesystem::path& file);

} // namespace kg::models
