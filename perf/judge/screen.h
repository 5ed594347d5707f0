// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The screen: what a row's fresh processes say against the committed process medians. It may
// suspect; it fails only what no machine can hide.
#pragma once

#include "perf/judge/compare_rows.h"
#include "perf/judge/gate.h"

namespace kg::judge {

struct Opinion {
  Verdict verdict = Verdict::invalid;
  Cause cause = Cause::within;
  bool suspicious = false; // see RowResult
  double suspicion = 0;
  double detectable_pct = 0; // the slow-down that the screen would find 9 in 10 times
  Border border = Border::line;
};

// With kScreenProcesses processes or more a row is suspicious where a one-sided t test (alpha
// kScreenAlpha) of the logarithms of the process medians, trimmed by a fifth on either side, finds
// it slower (Yuen, 1974), and by more than half of its tolerance; with fewer, or on another host,
// below kSuspicious (of one run on a GPU: beyond its tolerance). Beside a canary that cannot be
// believed it must be so with and without the canary; otherwise the machine is in doubt, not the
// row: env, on a host suspicious nevertheless, since a confirmation there needs no canary.
// `other_machine` is GateOptions'.
Opinion screen(const Comparison& comparison, const Measured& measured, const TimingRow& baseline,
               Device device, bool other_machine);

} // namespace kg::judge
