// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The scheduling information that the compiler adds to each instruction: how long its warp stalls
// after it, and which of the warp's six counters (scoreboards) it waits for and holds.
#pragma once

#include <cstdint>

namespace kg::sass {

inline constexpr int kCounters = 6; // SB0 to SB5 of a warp

struct Control {
  int stall = 1;          // cycles until the warp may issue again
  bool yield = false;     // prefer another warp in the next cycle
  int writes = -1;        // the counter held until the result is written; -1: none
  int reads = -1;         // the counter held until the operands have been read
  std::uint32_t wait = 0; // bit i: issued only when counter i is zero
};

// Decodes the upper word of a 128-bit instruction, from sm_70 on.
Control control_of(std::uint64_t upper);

} // namespace kg::sass
