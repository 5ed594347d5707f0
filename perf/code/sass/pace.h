// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast a kernel's main part is expected to be on a GPU that is not there: a multiprocessor with
// the kernel's resident warps (multiprocessor.h) goes through it pass after pass. Modelled: not a
// bound, and not measured.
#pragma once

#include "perf/code/sass/kernels.h"
#include "perf/code/sass/standing.h"
#include "perf/code/timing_model/gpu.h"

#include <string>
#include <vector>

namespace kg::sass {

// Clocks in which a scheduler issues nothing, or its matrix unit has nothing to do, while warps
// stand at an instruction.
struct Idle {
  std::string line, kernel_line, opcode;
  std::string waits;                  // for what
  std::string from_line, from_opcode; // of the instruction that it waits for
  double share_pct = 0;               // of all clocks
};

struct Pace {
  double clocks = 0;      // of a pass of all resident warps of a multiprocessor; 0: not modelled
  double share_pct = 0;   // of what Standing::of names
  double idle_pct = 0;    // of all clocks
  double latency = 0;     // of a load, in clocks
  std::vector<Idle> idle; // the most first
};

// Nothing where there is no share, no control code, or an instruction that the model lacks
// (step.h).
Pace pace_of(const Kernel& kernel, const Standing& standing, const model::Gpu& gpu);

} // namespace kg::sass
