// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How often a launch executed each part of its kernel's machine code. Derived from the requests and
// barriers that the emulator counted per line while it ran the kernel's PTX.
#pragma once

#include "perf/code/sass/listing.h"
#include "perf/code/sass/pipes.h"
#include "runtime/host/count/counts.h"

#include <array>

namespace kg::sass {

// Sums over all warps of a launch.
struct Executed {
  double instructions = 0;
  std::array<double, kPipes> clocks = {}; // of schedulers, by pipe

  double issue_clocks() const; // of schedulers: to issue all, or of the busiest pipe
};

// The launch with shared memory accesses merged as in the machine code. ptxas merges accesses that
// PTX has separately; the emulator has counted wavefronts for merged widths as well.
count::Launch as_compiled(count::Launch launch, const Function& function);

// A basic block's execution count is the bytes that its lines' requests moved, or their barriers,
// over those of one execution. If a line was compiled several times, its work is attributed to the
// innermost loop with most of it: the unrolled loop, not its remainder. A block without either runs
// as often as its loop if it is on the loop's main path. A loop without either runs as often as the
// code around it, which is a lower bound.
Executed executed(const Function& function, const count::Launch& launch, const Rates& rates);

} // namespace kg::sass
