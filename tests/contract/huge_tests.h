// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// The test RowsBeyond32Bits, of the card's `batches`: some rows of a batch of more than 2^32
// elements, those around 2^31 and 2^32 elements and bytes among them, are held to the oracle as a
// batch of their own. The tensors are sparse, and the emulator runs a window of each grid
// (tests/support/huge.h), so the blocks must be independent and in the order of the rows. Fails
// where no batch lends itself to it.
void rows_beyond_32_bits(Judge& judge);

} // namespace kg::card
