// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Stores the outcome of a confirmation with the measured row, so that judging the stored row again,
// as a report does, reaches the same verdict as the gate.
#pragma once

#include "perf/judge/result.h"
#include "perf/judge/suspects.h"

#include <optional>

namespace kg::judge {

// Stores it in a tag of the row.
void store(const RowConfirmation& confirmation, Measured& row);

// What store() stored. Empty if the row has no confirmation, or was merged from runs with different
// ones. Throws kg::Error naming the row if the tag is malformed.
std::optional<RowConfirmation> stored_confirmation(const Measured& row);

// The confirmations of all rows that have one.
Confirmations stored_confirmations(const Results& run);

} // namespace kg::judge
