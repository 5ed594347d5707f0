// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares two counts of one execution: of the kernels compiled by g++, and of the PTX that nvcc
// made from the same source (runtime/ptx). nvcc may split, merge, hoist and repeat accesses.
#pragma once

#include "runtime/host/count/counts.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kg::cost {

struct Difference {
  std::string kernel;
  std::string what;                       // "global 16 B load", "barriers", "collectives"
  std::uint64_t source = 0, compiled = 0; // requests, or the number of events
  std::uint64_t source_passes = 0, compiled_passes = 0; // sectors or wavefronts; accesses only
  std::string source_lines, compiled_lines; // "row.h:93 648, row.h:95 12": only in this one
};

// The differences, launch by launch, in order. Throws Error if kernels or number of launches
// differ.
std::vector<Difference> differences(const std::vector<count::Launch>& source,
                                    const std::vector<count::Launch>& compiled);

} // namespace kg::cost
