// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts of verdicts for headlines. Informational rows are counted apart, since a slower library is
// not a regression of ours.
#pragma once

#include "perf/judge/verdict.h"

#include <cstddef>
#include <map>
#include <string>

namespace kg::judge {

struct VerdictCounts {
  std::map<Verdict, std::size_t> gated;
  std::size_t informing = 0;
  std::size_t worse = 0;    // of the informational rows
  std::size_t expected = 0; // rows of status xfail that regressed

  // An informational row that fails (wrong output of ours) counts as gated.
  void add(Verdict verdict, RowExit row);
};

// "1 regressed, 37 pass, 2 fail as expected; 4 informational (1 worse)", or "no rows".
std::string text(const VerdictCounts& counts);

} // namespace kg::judge
