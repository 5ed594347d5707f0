// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// All sentences of verdicts. Judging yields causes and numbers; these functions turn them into
// text, once, at the end.
#pragma once

#include "perf/judge/compare_rows.h"
#include "perf/judge/screen.h"
#include "perf/judge/suspects.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kg::judge {

// The gate (gate.h). Writes figures, reason and message of a row that the screen has judged.
void word(RowResult& row, const Evidence& evidence, const GateOptions& options);

// Writes them again after fold(), with the result of a confirmation or the reason why there is
// none. Null: the row was not among the most suspicious ones.
void reword(RowResult& row, const RowConfirmation* confirmation, const GateOptions& options);

// What is wrong with a run or its files, apart from verdicts.
struct RunFaults {
  std::vector<RowKey> repeated; // measured twice
  std::vector<Problem> problems;
  std::vector<std::pair<const TimingFile*, const TimingRow*>> orphans;
  bool no_rows = false;
};
inline constexpr std::string_view kStrictNote =
    "strict (KERNELGRADE_STRICT): a test that would be skipped fails";

// Writes the faults and notes of a run.
void word_run(GateResult& result, const RunFaults& faults, const GateOptions& options);

// Why a row can be neither judged nor blessed: a defect, a throttled or shared device, or a rate
// beyond the device's ceilings. Empty if the row is sound.
std::optional<std::string> defect(const Measured& row, Device device);
std::optional<std::string> disturbance(const Measured& row);
std::optional<std::string> beyond_roof(const Measured& row, const Ceilings& ceilings);

// A confirmation (confirm.h). `control_pct`: by how much the two copies of the reference differ.
std::string confirmation_text(const Confirmation& found, double tol_pct, double control_pct);

// A comparison of two stored results (compare_results.h). `a` and `b` are null if the row is in one
// of them only.
struct PairEvidence {
  const Measured* a = nullptr;
  const Measured* b = nullptr;
  char obstacle = 0;       // 'A' or 'B' if that row cannot be compared
  double canary_drift = 1; // the canary's time for B over that for A
  double tol_pct = 0;
};
inline constexpr std::string_view kNoRowsInEither = "no rows: neither file holds any";

// Writes reason and message. There is no command that measures the row again.
void word_pair(RowResult& row, const PairEvidence& evidence);

} // namespace kg::judge
