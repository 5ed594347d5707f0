// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/suite.h"
#include "tests/contract/card.h"

namespace kg::perf {

// The timed cases of an operation, made from its card: random inputs, and all our variants and
// those of libraries. Results are compared with the reference, within the tolerance of the
// correctness tests. Of a large result only windows are compared: whole rows, or single elements if
// the card's reference can compute them. `card` must outlive the operation.
Operation card_operation(const card::Card& card);

} // namespace kg::perf
