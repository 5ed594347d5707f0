// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/card_operation.h"

namespace kg::perf {

// card_operation() that validates shapes: `make` throws Error for a malformed one
// (tests/contract/grammar.h). `card` must outlive the operation.
Operation checked_operation(const card::Card& card);

} // namespace kg::perf
