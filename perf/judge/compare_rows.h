// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One measured row against its baseline row: whether they can be compared, how many times as fast
// it is, and how healthy the canaries are. screen.h judges that.
#pragma once

#include "perf/judge/baseline.h"
#include "perf/judge/result.h"

#include <optional>
#include <string>

namespace kg::judge {

struct Comparison {
  double ratio = 0; // baseline / measured, canary-normalised where the device's rule says so
  Interval interval;
  double scale = 1;     // the drift, where that rule says so; otherwise 1
  double drift = 1;     // today's canary time over the blessed one; 1 where there is none
  bool canary = false;  // both rows have one
  bool healthy = false; // both have one, and it can be believed
};

// What makes the measured row itself unfit to be judged or blessed, or nothing: wrong output, no or
// senseless samples, no canary where one is needed.
std::optional<std::string> defect(const Measured& row, Device device);

// What makes its time no time of the machine alone: it was throttled, or others ran on it. Nothing
// where neither was seen.
std::optional<std::string> disturbance(const Measured& row);

// Both rows must be free of defects, and their canaries, where both have one, of one kind.
Comparison compare(const Measured& measured, const TimingRow& baseline, Device device);

// Whether the row has the machine code and the launches of its baseline, as far as they are known.
enum class Same { unknown, yes, no };
Same same_identity(const Measured& measured, const TimingRow& baseline);

// "The memory canary takes 1.00x its blessed time, known to +-1.0 %"
std::string canary_text(const Comparison& comparison, const Measured& measured);

} // namespace kg::judge
