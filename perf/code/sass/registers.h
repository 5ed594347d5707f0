// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which registers an instruction reads and writes, and how many bytes an access moves.
#pragma once

#include "perf/code/sass/listing.h"

#include <string>
#include <vector>

namespace kg::sass {

// General registers, 0 to 254, without RZ. Uniform registers are ignored, since they receive no
// data with a long latency.
struct Registers {
  std::vector<int> read, written;
  std::vector<std::string> predicates; // written: "P0"
};

// The opcode determines the number of registers: four from R8 for `LDG.E.128 R8`, two for
// `IMAD.WIDE R8` or `DADD`, and the fragments of a matrix instruction.
Registers registers_of(const Instruction& instruction);

// Bytes per thread, from the modifiers; 4 by default. Only for memory accesses.
int bytes_moved(const Instruction& access);

} // namespace kg::sass
