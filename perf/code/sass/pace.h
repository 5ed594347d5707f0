// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Predicts the speed of a kernel's main part on a GPU that is not present. Simulates a
// multiprocessor (multiprocessor.h) whose resident warps execute iteration after iteration. A
// model: neither a bound nor a measurement.
#pragma once

#include "perf/code/sass/kernels.h"
#include "perf/code/sass/limit_share.h"
#include "perf/code/timing_model/gpu.h"

#include <string>
#include <vector>

namespace kg::sass {

// Cycles in which a scheduler issues nothing, or its Tensor Core is idle, while warps stall at an
// instruction.
struct Idle {
  std::string line, kernel_line, opcode;
  std::string waits;                  // the reason
  std::string from_line, from_opcode; // the instruction that it waits for
  double share_pct = 0;               // of all cycles
};

struct Pace {
  double clocks = 0;      // per iteration of all resident warps on a multiprocessor; 0: unknown
  double share_pct = 0;   // of the limit that LimitShare::of names
  double idle_pct = 0;    // of all cycles
  double latency = 0;     // of a load, in cycles
  std::vector<Idle> idle; // largest first
};

// Empty without a share or control codes, or if the model lacks an instruction (step.h).
Pace pace_of(const Kernel& kernel, const LimitShare& limit_share, const model::Gpu& gpu);

} // namespace kg::sass
