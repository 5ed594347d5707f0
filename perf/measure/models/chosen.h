// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models by the ids of their cases.
#pragma once

#include "perf/measure/models/spec.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::perf {

// Those that words choose. A word is the id of a case, which need not be listed of an mlp or a
// network for images, nor of a transformer with other _steps than the listed one; or a part of ids:
// then it chooses the listed ones (cases.h) of f32 that generate nothing and are small enough for
// where this runs. Throws Error for a word that chooses none.
std::vector<Spec> chosen(const std::vector<std::string>& words,
                         const std::filesystem::path& configs);

} // namespace kg::perf
