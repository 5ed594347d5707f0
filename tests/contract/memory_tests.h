// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The conformance tests of tensor placement.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// Tensors at odd addresses, and row gaps where the operation allows them.
void misaligned(Judge& judge);

// Outputs in the memory of inputs, aligned and misaligned; all tensors at one address if allowed.
void in_place(Judge& judge, const Problem& problem);

} // namespace kg::card
