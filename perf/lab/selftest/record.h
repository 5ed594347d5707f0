// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One batch of the self-test: the measurements and the gate's verdicts. Keeps all samples, so that
// any rule can be evaluated later.
#pragma once

#include "perf/judge/confirm.h"
#include "perf/judge/gate.h"
#include "perf/judge/row.h"
#include "perf/lab/selftest/calibration.h"
#include "perf/lab/selftest/rules.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kg::selftest {

inline constexpr int kRecordSchema = 1;

// One row under one treatment.
struct Check {
  std::string experiment;
  int step = 0; // of a creep
  Processes screened;
  judge::Verdict verdict = judge::Verdict::invalid; // of the complete gate
  judge::PairedTimes rounds;                        // empty if nothing had to be confirmed
};

struct CheckedRow {
  judge::RowKey key;
  Processes blessed;
  Processes reference; // unchanged, interleaved with the screened ones; may be empty
  std::vector<Check> checks;
};

struct Batch {
  std::string device;
  std::string backend;
  std::string date_utc;
  std::string source;
  std::vector<CheckedRow> rows;
};

// A batch's counts, for our gate and for every other tool's rule. Those compare with the reference,
// or without one with the blessed processes, like users who keep old results. Undecided counts our
// gate's inconclusive and env.
std::vector<CalibrationRow> tally(const Batch& batch);

std::string to_json(const Batch& batch);
Batch batch_from_json(std::string_view contents, const std::string& file);
Batch load_batch(const std::filesystem::path& path);

} // namespace kg::selftest
