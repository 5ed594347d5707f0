// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// setmaxnreg (PTX ISA, "Miscellaneous Instructions: setmaxnreg"): threads return registers to their
// block's pool, or request more and wait until the pool has enough. The counts do not affect
// results here; their use is that a request the pool can never satisfy waits forever.
//
// A block begins with 65,536 registers divided by its number of threads, in steps of 8 and at most
// 256 per thread. ptxas uses no more under __launch_bounds__(threads, 1), and fewer to fit more
// blocks. So a sum that is too large here is too large on a GPU. Without a register count at entry
// ptxas ignores setmaxnreg, and so does code from PTX (runtime/ptx/module.h).
#pragma once

#include "runtime/error.h"

#include <string>

namespace kg::host {

// How reports describe a thread that waits for registers.
inline constexpr const char* kRegisterRise = "setmaxnreg.inc";

// Sets the running thread's register count: a multiple of 8 from 24 to 256 and, without `rises`, at
// most the current count; otherwise Error (a trap).
void set_registers(unsigned count, bool rises, Location where);

// "for 24 x 128 + 256 x 256 = 68608 of the block's 64512 registers", including waiting threads.
std::string registers_missing();

void registers_reset(); // called when a new block begins on this OS thread

} // namespace kg::host
