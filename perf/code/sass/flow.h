// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Basic blocks of a function, its natural loops, and its main path.
#pragma once

#include "perf/code/sass/listing.h"

#include <cstddef>
#include <vector>

namespace kg::sass {

struct Block {
  std::size_t begin = 0, end = 0; // indices of instructions
  std::vector<std::size_t> next;  // successor blocks
};

// A loop or the whole function, with a single entry block.
struct Region {
  std::size_t entry = 0;           // the loop's header block
  std::vector<std::size_t> blocks; // sorted; includes those of nested loops
  int depth = 0;                   // 0: the function
  bool innermost = true;           // contains no other loop
};

struct Flow {
  std::vector<Block> blocks;   // in the order of the code; includes unreachable blocks
  std::vector<Region> regions; // the function first, then its loops by position
};

// A call returns to the next instruction. BSYNC continues where the preceding BSSY says. A branch
// with an unreadable target ends its block without successors. Throws Error if a label is missing.
Flow flow_of(const Function& function);

// The instructions of one iteration of a region along its main path, nested loops once. Among paths
// that end where the region ends, it moves most bytes by the region's widest accesses. Ties go to
// the path whose narrower accesses gain most, less its instructions. So vectorized accesses win
// over a row's scalar remainder, and the fast path over a slow path after a rare test.
std::vector<std::size_t> main_path(const Function& function, const Flow& flow,
                                   const Region& region);

} // namespace kg::sass
