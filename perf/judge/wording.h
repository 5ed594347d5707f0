// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// All sentences of a timing verdict. Judging yields causes and numbers; here they become, once,
// what was seen, what follows, and how to see it again.
#pragma once

#include "perf/judge/compare_rows.h"
#include "perf/judge/roof.h"
#include "perf/judge/suspects.h"

#include <optional>
#include <string>

namespace kg::judge {

// What a row was judged from. Null where there is none.
struct Evidence {
  const TimingFile* file = nullptr;
  const Measured* row = nullptr;
  const TimingRow* baseline = nullptr;
  const Examined* seen = nullptr;
  double detectable_pct = 0; // the screen's
  bool informs = false;      // by its status, or as a library's row with wrong output
};

// Gives a row that the screen concluded its figures, reason and message.
void word(RowResult& row, const Evidence& evidence, const GateOptions& options);

// Again, behind fold(): with what a confirmation found, or why there is none. Null: the row was not
// among the most suspicious ones.
void reword(RowResult& row, const RowConfirmation* confirmation, const GateOptions& options);

// What makes a row unfit to be judged or blessed: a defect, a throttled or shared device, a rate
// that the device does not reach. Nothing where it is free of it.
std::optional<std::string> defect(const Measured& row, Device device);
std::optional<std::string> disturbance(const Measured& row);
std::optional<std::string> beyond_roof(const Measured& row, const Ceilings& ceilings);

} // namespace kg::judge
