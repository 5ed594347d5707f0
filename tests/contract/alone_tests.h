// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch invariance: what a row's result is must not depend on what is computed beside it.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// The contract's test RowsAlone, of the card's `batches`. Rows of a batch of 33 have the same bits
// alone, in batches of two with other rows, at another place among the 33 and, where rows may lie
// apart, with other strides. A variant for which this does not hold says so (Variant::dependence),
// and no longer than some batch shows it.
void rows_alone(Judge& judge);

} // namespace kg::card
