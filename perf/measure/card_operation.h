// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/suite.h"
#include "tests/contract/card.h"

namespace kg::perf {

// The timed cases of an operation, by its card: random inputs, every variant of ours and every
// vendor, each result held to the oracle and the bound of the correctness tests. Large results are
// looked at through windows of whole rows, or of single elements where the card knows these. `card`
// must outlive the operation.
Operation card_operation(const card::Card& card);

} // namespace kg::perf
