// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches as the executor counts them beside the same launches as the hardware counted them.
#pragma once

#include "perf/code/ncu/ncu.h"
#include "runtime/host/count/counts.h"

#include <span>
#include <string>
#include <vector>

namespace kg::hardware {

// A quantity that both count: of the hardware the sum of what its metrics say, less the sum of
// `without`. Copies past the registers (cp.async) are loads to the executor; an H200's loads have
// them, other GPUs may have a count of their own.
struct Quantity {
  std::string name;                 // "load sectors"
  std::vector<std::string> metrics; // of ncu; the first must be there
  std::vector<std::string> without;
  double (*counted)(const count::Launch&);
};

// Requests and sectors of loads and stores; conflicts in shared memory; and what the hardware
// counts as passes of shared memory, without conflicts: beside accesses, shuffles, barriers of
// blocks and reads of the thread's index go through the pipe, a pass each.
const std::vector<Quantity>& quantities();

struct Compared {
  std::string kernel; // its own name
  std::string quantity;
  double counted = 0;
  double measured = 0;

  // 1 where both are 0.
  double ratio() const;
};

// Launch by launch; quantities that the hardware was not asked for are left out. Throws Error where
// the launches are not the same: another number, kernel, grid or block.
std::vector<Compared> compare(const std::vector<count::Launch>& counted,
                              std::span<const Launch> measured);

} // namespace kg::hardware
