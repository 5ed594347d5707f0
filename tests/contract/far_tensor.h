// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// The conformance test RowsFarApart, for the card's `far` problems: the rows of each tensor are too
// far apart for 32-bit offsets.
void rows_far_apart(Judge& judge);

} // namespace kg::card
