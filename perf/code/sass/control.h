// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the compiler tells the scheduler with each instruction: how long its warp stands still
// behind it, and which of the warp's six counters it waits for and holds.
#pragma once

#include <cstdint>

namespace kg::sass {

inline constexpr int kCounters = 6; // SB0 to SB5 of a warp

struct Control {
  int stall = 1;          // clocks until the warp may issue again
  bool yield = false;     // another warp is to issue in the next clock
  int writes = -1;        // the counter held until the result is written; -1: none
  int reads = -1;         // the counter held until the operands have been read
  std::uint32_t wait = 0; // bit i: issued only when counter i is zero
};

// Of the upper word of an instruction of 128 bits, from sm_70 on.
Control control_of(std::uint64_t upper);

} // namespace kg::sass
