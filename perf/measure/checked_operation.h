// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/card_operation.h"

namespace kg::perf {

// card_operation, whose cases are made of well-formed shapes alone (tests/contract/grammar.h):
// `make` throws Error for others. `card` must outlive the operation.
Operation checked_operation(const card::Card& card);

} // namespace kg::perf
