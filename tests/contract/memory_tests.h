// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract's tests of where tensors may lie.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// Tensors at odd addresses, and rows apart where the operation allows it.
void misaligned(Judge& judge);

// Outputs in the memory of inputs, aligned and not; all tensors in one place where they may be.
void in_place(Judge& judge, const Problem& problem);

} // namespace kg::card
