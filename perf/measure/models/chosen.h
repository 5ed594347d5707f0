// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Selects models by their case ids.
#pragma once

#include "perf/measure/models/spec.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::perf {

// The models that `words` select. A word is a complete case id or a part of one. A complete id need
// not be listed: any mlp or image network is accepted, and a transformer with another _steps value.
// A part selects the listed f32 cases (cases.h) without generation that are small enough for this
// device. Throws Error for a word that selects nothing.
std::vector<Spec> chosen(const std::vector<std::string>& words,
                         const std::filesystem::path& configs);

} // namespace kg::perf
