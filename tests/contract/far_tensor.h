// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// The contract's test RowsFarApart: the card's problems `far`, the rows of each tensor further
// apart than 32 bits count.
void rows_far_apart(Judge& judge);

} // namespace kg::card
