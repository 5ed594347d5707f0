// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The outcome of a confirmation, kept with the row as it was measured: who judges the stored row
// again, as a report does, concludes what the gate concluded.
#pragma once

#include "perf/judge/result.h"
#include "perf/judge/suspects.h"

#include <optional>

namespace kg::judge {

// Puts it among the row's tags.
void store(const RowConfirmation& confirmation, Measured& row);

// What store() put there. Nothing where the row has none, or where it was merged from runs that
// found different things. Throws kg::Error, naming the row, where the tag holds something else.
std::optional<RowConfirmation> stored_confirmation(const Measured& row);

// Of all rows that have one.
Confirmations stored_confirmations(const Results& run);

} // namespace kg::judge
