// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Upper bound on the speed of a kernel's main part on a GPU that is not present, from its
// instructions alone. Ranks kernels; does not predict times.
#pragma once

#include "perf/code/sass/kernels.h"
#include "perf/code/timing_model/gpu.h"

#include <string>

namespace kg::sass {

struct LimitShare {
  double bytes_in_flight = 0; // per multiprocessor, with the resident warps
  // Upper bound in percent of the limit that `of` names. 0 if the part moves and multiplies
  // nothing, or without a GPU.
  double share_pct = 0;
  std::string of;      // "copy", "mma", "wgmma" or "fma"; empty: no share
  std::string limiter; // "-", "loads in flight", "issue" or a pipe's name
  double budget = 0;   // instructions per iteration that are free; for copy and mma
};

// Without a GPU (null) there is no share of copy bandwidth.
LimitShare limit_share_of(const Kernel& kernel, const model::Gpu* gpu);

} // namespace kg::sass
