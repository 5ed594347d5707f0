// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats analysed kernels as a table and as JSON.
#pragma once

#include "perf/code/sass/hints.h"
#include "perf/code/sass/pace.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::sass {

struct Judged {
  Kernel kernel;
  LimitShare limit_share;
  Pace pace;
  std::vector<Hint> hints;
};

// Judges each kernel for the GPU; null if no GPU is known. Sorted by share, lowest first; kernels
// without a share come last.
std::vector<Judged> judged(std::vector<Kernel> kernels, const model::Gpu* gpu);

// A table with one line per kernel, each followed by its hints.
std::string plain_text(const std::vector<Judged>& kernels);

// All data, for all loops.
nlohmann::json json(const std::vector<Judged>& kernels);

} // namespace kg::sass
