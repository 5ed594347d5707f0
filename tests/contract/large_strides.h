// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// The conformance test LargeStrides, for the card's `large_strides` problems: the rows of each
// tensor are too far apart for 32-bit offsets.
void large_strides(Judge& judge);

} // namespace kg::card
