// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The counts of one execution twice: of the kernels as g++ compiled them, and of what nvcc made of
// the same source (runtime/ptx). nvcc may split, merge, hoist and repeat accesses.
#pragma once

#include "runtime/host/count/counts.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kg::cost {

struct Difference {
  std::string kernel;
  std::string what;                       // "global 16 B load", "barriers", "collectives"
  std::uint64_t source = 0, compiled = 0; // requests, or how many there were
  std::uint64_t source_passes = 0, compiled_passes = 0; // sectors or wavefronts; of accesses only
  std::string source_lines, compiled_lines; // "row.h:93 648, row.h:95 12": what the other has not
};

// What differs, launch by launch, in order. Throws Error where other kernels were launched, or as
// many.
std::vector<Difference> differences(const std::vector<count::Launch>& source,
                                    const std::vector<count::Launch>& compiled);

} // namespace kg::cost
