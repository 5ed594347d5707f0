// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// The test RowsBeyond32Bits, for the card's `batches`: computes a batch of more than 2^32 elements
// and compares the rows around 2^31 and 2^32 elements and bytes with the oracle, as a batch of
// their own. The tensors are sparse, and the emulator runs a window of each grid
// (tests/support/huge.h), so blocks must be independent and ordered by row. Fails if no batch of
// the card is suitable.
void rows_beyond_32_bits(Judge& judge);

} // namespace kg::card
