// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract's test of kernels that run as nvcc compiled them (runtime/ptx/library.h).
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// Whether they do: KERNELGRADE_PTX is set.
bool runs_compiled_kernels();

// Every variant gives the bits that the same source gives as g++ compiled it; where the card names
// functions that both compilers have of their own, numbers close to them.
void same_bits_as_source(Judge& judge, const Problem& problem);

} // namespace kg::card
