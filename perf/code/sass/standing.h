// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast a kernel's main part could be on a GPU that is not there, as far as its instructions
// decide: a bound, and an order in which to look at kernels. Not a time.
#pragma once

#include "perf/code/sass/kernels.h"
#include "perf/code/timing_model/gpu.h"

#include <string>

namespace kg::sass {

struct Standing {
  double bytes_in_flight = 0; // on one multiprocessor, with the warps that are resident
  // Percent of what `of` allows, at the most; nothing where the part moves and multiplies nothing,
  // or there is no GPU.
  double share_pct = 0;
  std::string of;      // "copy", "mma", "wgmma" or "fma"; empty: there is no share
  std::string limiter; // "-", "loads in flight", "issue" or a pipe's name
  double budget = 0;   // instructions of a pass that cost nothing; of copy and mma
};

// Null: of no GPU, so that there is no share of a copy.
Standing standing_of(const Kernel& kernel, const model::Gpu* gpu);

} // namespace kg::sass
