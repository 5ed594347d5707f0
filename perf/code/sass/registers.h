// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which registers an instruction reads and writes, and how many bytes an access moves.
#pragma once

#include "perf/code/sass/listing.h"

#include <string>
#include <vector>

namespace kg::sass {

// General registers, 0 to 254; RZ is none. Uniform registers are not followed: nothing is loaded
// into them that a thread waits long for.
struct Registers {
  std::vector<int> read, written;
  std::vector<std::string> predicates; // written: "P0"
};

// Wide results and operands are followed by the opcode: the four registers behind `LDG.E.128 R8`,
// two of `IMAD.WIDE R8` or `DADD`, what a matrix instruction takes of its fragments.
Registers registers_of(const Instruction& instruction);

// Of one thread, by the modifiers: 4 where none says otherwise. For instructions that access
// memory.
int bytes_moved(const Instruction& access);

} // namespace kg::sass
