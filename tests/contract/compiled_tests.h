// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The conformance test of kernels that run as nvcc compiled them (runtime/ptx/library.h).
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// True if KERNELGRADE_PTX is set.
bool runs_compiled_kernels();

// Every variant gives the same bits under nvcc as under g++. If the card names functions that the
// two compilers implement differently, the results must be close.
void same_bits_as_source(Judge& judge, const Problem& problem);

} // namespace kg::card
