// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Analysed kernels for people and for programs.
#pragma once

#include "perf/code/sass/hints.h"
#include "perf/code/sass/pace.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::sass {

struct Judged {
  Kernel kernel;
  Standing standing;
  Pace pace;
  std::vector<Hint> hints;
};

// With where it stands on the GPU; null where none is known. The worst first: by
// the share, those without one behind the others.
std::vector<Judged> judged(std::vector<Kernel> kernels, const model::Gpu* gpu);

// A table with a line per kernel, and below it the hints of each.
std::string plain_text(const std::vector<Judged>& kernels);

// Everything that is known, of all loops.
nlohmann::json json(const std::vector<Judged>& kernels);

} // namespace kg::sass
