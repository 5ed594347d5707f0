// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Basic blocks of a function, its natural loops, and the path through them that does the work.
#pragma once

#include "perf/code/sass/listing.h"

#include <cstddef>
#include <vector>

namespace kg::sass {

struct Block {
  std::size_t begin = 0, end = 0; // instructions
  std::vector<std::size_t> next;  // blocks
};

// A loop, or the whole function: what is entered at one block and gone through as a unit.
struct Region {
  std::size_t entry = 0;           // block: the loop's header
  std::vector<std::size_t> blocks; // sorted; those of nested loops, too
  int depth = 0;                   // 0: the function
  bool innermost = true;           // holds no other loop
};

struct Flow {
  std::vector<Block> blocks;   // in the order of the code; unreachable ones are among them
  std::vector<Region> regions; // the function first, then its loops by where they begin
};

// A call returns to the next instruction; BSYNC goes on where the BSSY in front of it says; a
// branch without a target that can be read ends its block. Throws Error where a label is missing.
Flow flow_of(const Function& function);

// The instructions of one pass through a region, loops inside it once, along its main path: of the
// paths that end where the region does, that which moves most by the widest loads and stores that
// the region has; of several the one that gains most by narrower ones, less its instructions. So a
// whole pack goes before the row's ragged end, element by element, and the fast path before the
// slow one that follows a rare test.
std::vector<std::size_t> main_path(const Function& function, const Flow& flow,
                                   const Region& region);

} // namespace kg::sass
