// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A multiprocessor, clock by clock: four schedulers, each of which issues one instruction a clock
// of the warps that it has, in each warp's order. Deterministic.
#pragma once

#include "perf/code/sass/step.h"

#include <compare>
#include <cstddef>
#include <map>
#include <vector>

namespace kg::sass {

// Clocks until data are there, and bytes a clock that one multiprocessor is given of L2.
struct Memory {
  double latency = 0;
  double l2_latency = 0; // of loads `again`
  double port = 64;
};

struct Residents {
  int blocks = 1, warps = 1; // of a multiprocessor; of a block
  // The steps are a whole kernel: a block begins where one has ended. Otherwise they are a loop's
  // pass, and a warp goes on with the next.
  bool restart = false;
  double apart = 0; // clocks between the starts of blocks
};

// Where a warp stands, and why.
struct Stand {
  std::size_t step = 0; // that is to be issued
  Waits waits = Waits::stall;
  std::size_t behind =
      0; // the step that it waits for: a load, a barrier, itself where it is its turn
  auto operator<=>(const Stand&) const = default;
};

struct Simulated {
  double clocks = 0; // of a pass of all warps, once they are under way
  // Shares of those in which nothing was issued, or `watched` was idle, each warp of a scheduler
  // with the same part.
  std::map<Stand, double> idle;
};

// `watched`: the pipe whose idle clocks count; `control`: those in which a scheduler issues
// nothing.
Simulated simulate(const std::vector<Step>& steps, const Memory& memory, const Residents& residents,
                   Pipe watched = Pipe::control);

} // namespace kg::sass
