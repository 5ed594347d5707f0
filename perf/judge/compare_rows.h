// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One measured row against its baseline row: how many times as fast, how healthy the canaries, and
// the verdict of the screen.
#pragma once

#include "perf/judge/baseline.h"
#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <optional>
#include <string>

namespace kg::judge {

struct Comparison {
  double ratio = 0; // baseline / measured, canary-normalised where the device's rule says so
  Interval interval;
  double drift = 1;     // today's canary time over the blessed one; 1 where there is none
  bool canary = false;  // both rows have one
  bool healthy = false; // both have one, and it can be believed
};

// What makes the measured row itself unfit to be judged or blessed, or nothing: wrong output, no or
// senseless samples, no canary where one is needed.
std::optional<std::string> defect(const Measured& row, Device device);

// Both rows must be free of defects, and their canaries, where both have one, of one kind.
Comparison compare(const Measured& measured, const TimingRow& baseline, Device device);

struct Opinion {
  Verdict verdict = Verdict::invalid;
  bool warning = false;
  std::string reason;
};
Opinion screen(const Comparison& comparison, const Measured& measured, const TimingRow& baseline,
               Device device);

} // namespace kg::judge
