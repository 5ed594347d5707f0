// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate of whole models. What they hold and ask for has no noise, and gates everywhere:
// baselines/models/<device>/memory.csv. Times gate on a GPU: model.csv beside it; on a CPU they are
// the executor's, and inform.
#pragma once

#include "perf/measure/models/cases.h"

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace kg::perf {

struct GateCall {
  std::string part; // of the cases' ids
  int runs = 10;    // eight samples have a 99 % interval
  bool full = false;
  std::filesystem::path baselines; // the folder of all baselines
  std::filesystem::path json;
  std::vector<std::filesystem::path> from;
  bool bless = false, remove_orphans = false;
  std::string why, source;
};
int gate(const GateCall& call, std::ostream& out); // the exit code

// The times of a GPU's cases against `folder`/model.csv. A file that is gone fails as soon as the
// folder has anything.
struct TimesCall {
  std::filesystem::path folder;
  bool strict = false, filtered = false;
};
int gate_times(const TimesCall& call, const std::vector<judge::Measured>& times,
               const std::vector<ModelCase>& cases, std::ostream& out);

} // namespace kg::perf
