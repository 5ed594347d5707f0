// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How often a launch executed each part of its kernel's machine code: from the requests and
// barriers that the executor counted, line by line, when it ran the kernel's PTX.
#pragma once

#include "perf/code/sass/listing.h"
#include "perf/code/sass/pipes.h"
#include "runtime/host/count/counts.h"

#include <array>

namespace kg::sass {

// By all warps of a launch together.
struct Executed {
  double instructions = 0;
  std::array<double, kPipes> clocks = {}; // of schedulers, by pipe

  double issue_clocks() const; // of schedulers: to issue them, or of the busiest pipe
};

// The launch as the machine code accesses shared memory: ptxas merges accesses that stand apart in
// PTX, and the executor has counted what passes merged ones take.
count::Launch as_compiled(count::Launch launch, const Function& function);

// A block of instructions ran as often as the bytes that its lines' requests moved, or their
// barriers, are those of one execution. Where a line was compiled several times, the innermost loop
// that holds most of it has run: an unrolled loop, and not what is left of it. A block without
// either ran as often as the loop around it, if it lies on the loop's main path; a loop without
// either as often as what is around it, which is too little.
Executed executed(const Function& function, const count::Launch& launch, const Rates& rates);

} // namespace kg::sass
