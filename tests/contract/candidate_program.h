// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main of a candidate's program (kernelgrade_add_candidate in cmake/Candidate.cmake).
#pragma once

#include "tests/contract/card.h"

namespace kg::card {

// The contract of `card` for the functions that this program defines, with the options of every
// correctness test; `--signature` prints a stub of them instead. The tests run in a process of their
// own: one that a candidate ends, with whatever exit code, has failed. Gives the exit code.
int run_candidate(const Card& card, int argc, char** argv);

} // namespace kg::card
