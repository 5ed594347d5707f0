// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The screen: tests a row's process medians against the committed ones. It mostly raises
// suspicions; it fails only slow-downs too large for any machine effect.
#pragma once

#include "perf/judge/compare_rows.h"
#include "perf/judge/gate.h"
#include "perf/judge/statistics.h"

namespace kg::judge {

struct Opinion {
  Verdict verdict = Verdict::invalid;
  Cause cause = Cause::within;
  bool suspicious = false; // as in RowResult
  double suspicion = 0;
  double detectable_pct = 0; // the slow-down that the screen finds with probability kPower
  Border border = Border::line;
  Modes modes = {}; // of the measured process medians
};

// With at least kScreenProcesses processes, a row is suspicious if Yuen's one-sided t test (1974;
// alpha kScreenAlpha, log process medians, a fifth trimmed at each end) finds it slower, and by
// more than half of its tolerance. With fewer processes, or on a different host, it is suspicious
// below kSuspicious; on a GPU, beyond its tolerance.
//
// If the canary is unhealthy, the row must look slow both with and without it. Otherwise the
// verdict is env. On a host such a row is still suspicious, since a confirmation there needs no
// canary. `other_machine`: GateOptions::other_machine is set.
Opinion screen(const Comparison& comparison, const Measured& measured, const TimingRow& baseline,
               Device device, bool other_machine);

// What a row is judged from and worded with. Pointers are null where there is nothing.
struct Evidence {
  const TimingFile* file = nullptr;    // null: the row is not registered
  const Measured* row = nullptr;       // null: it was not measured
  const TimingRow* baseline = nullptr; // null: it is not blessed
  Examined seen = {};
  Opinion screened = {}; // if seen.compared
  bool informs = false;  // status info, or a library's row with wrong output
};

} // namespace kg::judge
