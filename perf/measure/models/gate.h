// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate of whole models. Memory and calls have no noise, so they gate on every device:
// baselines/models/<device>/memory.csv. Times gate on a GPU only: model.csv in the same folder. On
// a CPU they are the emulator's times and are informational.
#pragma once

#include "perf/measure/models/cases.h"

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace kg::perf {

struct GateCall {
  std::string part; // selects cases whose id contains it
  int runs = 10;    // a 99 % interval needs eight samples
  bool full = false;
  std::filesystem::path baselines; // the folder of all baselines
  std::filesystem::path json;
  std::vector<std::filesystem::path> from;
  bool bless = false, remove_orphans = false;
  std::string why, source;
};
int gate(const GateCall& call, std::ostream& out); // the exit code

// Judges the times of a GPU's cases against `folder`/model.csv. A missing file is a failure if the
// folder exists.
struct TimesCall {
  std::filesystem::path folder;
  bool strict = false, filtered = false;
};
int gate_times(const TimesCall& call, const std::vector<judge::Measured>& times,
               const std::vector<ModelCase>& cases, std::ostream& out);

} // namespace kg::perf
