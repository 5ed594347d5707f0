// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the emulator's counts of launches with the hardware's counts of the same launches.
#pragma once

#include "perf/code/ncu/ncu.h"
#include "runtime/host/count/counts.h"

#include <span>
#include <string>
#include <vector>

namespace kg::hardware {

// A quantity that both count. The hardware's value is the sum of its metrics minus the sum of
// `without`. The emulator counts asynchronous copies (cp.async) as loads. So do an H200's load
// metrics; other GPUs may count these copies separately.
struct Quantity {
  std::string name;                 // "load sectors"
  std::vector<std::string> metrics; // of ncu; the first is required
  std::vector<std::string> without;
  double (*counted)(const count::Launch&);
};

// Requests and sectors of loads and stores, shared-memory bank conflicts, and shared-memory
// wavefronts without conflicts. The last include shuffles, block barriers and reads of the thread
// index, which use the same pipe with one wavefront each.
const std::vector<Quantity>& quantities();

struct Compared {
  std::string kernel; // name without namespaces and parameters
  std::string quantity;
  double counted = 0;
  double measured = 0;

  // 1 if both are 0.
  double ratio() const;
};

// Compares launch by launch. Omits quantities that were not measured on the hardware. Throws Error
// if number, kernels, grids or blocks of the launches differ.
std::vector<Compared> compare(const std::vector<count::Launch>& counted,
                              std::span<const Launch> measured);

} // namespace kg::hardware
