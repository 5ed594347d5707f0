// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Simulates a multiprocessor cycle by cycle. Each of its four schedulers issues one instruction per
// cycle from its warps, in order within a warp. Deterministic.
#pragma once

#include "perf/code/sass/step.h"

#include <compare>
#include <cstddef>
#include <map>
#include <vector>

namespace kg::sass {

// Load latencies in cycles, and one multiprocessor's L2 bandwidth in bytes per cycle.
struct Memory {
  double latency = 0;
  double l2_latency = 0; // of loads with Step::again
  double port = 64;
};

struct Residents {
  int blocks = 1, warps = 1; // blocks per multiprocessor; warps per block
  // true: the steps are a whole kernel, and a new block starts when one ends. false: the steps are
  // a loop's iteration, and a warp continues with the next one.
  bool restart = false;
  double apart = 0; // cycles between the starts of blocks
};

// Where a warp stalls, and why.
struct Stand {
  std::size_t step = 0; // the next to issue
  Waits waits = Waits::stall;
  std::size_t behind = 0; // the step that it waits for: a load, a barrier, or itself for `turn`
  auto operator<=>(const Stand&) const = default;
};

struct Simulated {
  double clocks = 0; // per iteration of all warps, in steady state
  // Shares of the cycles in which nothing was issued or `watched` was idle. Each cycle is divided
  // equally among the scheduler's warps.
  std::map<Stand, double> idle;
};

// `watched`: the pipe whose idle cycles count. `control`: counts cycles in which a scheduler issues
// nothing.
Simulated simulate(const std::vector<Step>& steps, const Memory& memory, const Residents& residents,
                   Pipe watched = Pipe::control);

} // namespace kg::sass
