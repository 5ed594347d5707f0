// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How many rows have which verdict, for headlines. Rows that are only informational are counted
// apart: a library's loss of speed is no regression of ours.
#pragma once

#include "perf/judge/gate.h"

#include <cstddef>
#include <map>
#include <string>

namespace kg::judge {

struct VerdictCounts {
  std::map<Verdict, std::size_t> gated;
  std::size_t informing = 0;
  std::size_t worse = 0;    // of these
  std::size_t expected = 0; // rows of status xfail that regressed

  // A row that informs but fails, for wrong output of ours, is counted as gated.
  void add(Verdict verdict, RowExit row);
};

// "1 regressed, 37 pass, 2 fail as expected; 4 informational (1 worse)", or "no rows".
std::string text(const VerdictCounts& counts);

} // namespace kg::judge
