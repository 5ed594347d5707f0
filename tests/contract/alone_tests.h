// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch invariance: a row's result must not depend on the other rows of its batch.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// The conformance test RowsAlone, for the card's `batches`. Each row of a batch of 33 must have the
// same bits alone, in a batch of two, and elsewhere in the 33; also with other strides, where rows
// may have gaps. A variant that violates this must declare it (Variant::dependence). A declaration
// that no batch confirms also fails.
void rows_alone(Judge& judge);

} // namespace kg::card
