// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// setmaxnreg (PTX ISA, "Miscellaneous Instructions: setmaxnreg"): threads give registers back to
// the pool of their block, or take more of them and wait until it has enough. The values compute
// nothing here; what counts is that a rise which the pool can never meet waits for ever.
//
// A block begins with as many registers for each of its threads as 65,536 divided by their number
// give, in steps of 8 and at most 256: ptxas takes no more under __launch_bounds__(threads, 1), and
// fewer where more blocks are to fit. So a sum that is too large here is so on a GPU.
#pragma once

#include "runtime/error.h"

#include <string>

namespace kg::host {

// What a thread that waits for registers is said to wait in.
inline constexpr const char* kRegisterRise = "setmaxnreg.inc";

// The running thread has `count` registers from now on: a multiple of 8 from 24 to 256, and without
// `rises` no more than it has; otherwise Error (a trap).
void set_registers(unsigned count, bool rises, Location where);

// "for 24 x 128 + 256 x 256 = 68608 of the block's 64512 registers": of those who wait, too.
std::string registers_missing();

void registers_reset(); // a new block begins, on this OS thread

} // namespace kg::host
