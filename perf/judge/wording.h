// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// All sentences of a timing verdict. Judging yields causes and numbers; this file turns them into
// text, once, at the end.
#pragma once

#include "perf/judge/compare_rows.h"
#include "perf/judge/screen.h"
#include "perf/judge/suspects.h"

#include <optional>
#include <string>

namespace kg::judge {

// What a row was judged from. Pointers are null where there is nothing.
struct Evidence {
  const TimingFile* file = nullptr;
  const Measured* row = nullptr;
  const TimingRow* baseline = nullptr;
  Examined seen = {};
  Opinion screened = {};
  bool informs = false; // status info, or a library's row with wrong output
};

// Writes figures, reason and message of a row that the screen has judged.
void word(RowResult& row, const Evidence& evidence, const GateOptions& options);

// Writes them again after fold(), with the result of a confirmation or the reason why there is
// none. Null: the row was not among the most suspicious ones.
void reword(RowResult& row, const RowConfirmation* confirmation, const GateOptions& options);

// Why a row can be neither judged nor blessed: a defect, a throttled or shared device, or a rate
// beyond the device's ceilings. Empty if the row is sound.
std::optional<std::string> defect(const Measured& row, Device device);
std::optional<std::string> disturbance(const Measured& row);
std::optional<std::string> beyond_roof(const Measured& row, const Ceilings& ceilings);

} // namespace kg::judge
