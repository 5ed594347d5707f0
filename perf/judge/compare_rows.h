// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One measured row against its baseline row: whether they can be compared, how many times as fast
// it is, and how healthy the canaries are. screen.h judges that, wording.h says it.
#pragma once

#include "perf/judge/gate.h"

#include <optional>
#include <vector>

namespace kg::judge {

// Whether the row has the machine code and the launches of its baseline, as far as they are known.
enum class Same { unknown, yes, no };

struct Comparison {
  double ratio = 0; // baseline / measured, canary-normalised where the device's rule says so
  Interval interval;
  double scale = 1;     // the drift, where that rule says so; otherwise 1
  double drift = 1;     // today's canary time over the blessed one; 1 where there is none
  bool canary = false;  // both rows have one
  bool healthy = false; // both have one, and it can be believed
  Same code = Same::unknown;
};

// All that the judge looks at of a row.
struct Examined {
  std::optional<Cause> defect;
  std::optional<double> roof; // the share of it that the row reaches
  bool disturbed = false;     // no time of the machine alone: it was throttled, or others ran on it
  bool other_canary = false;  // the baseline's is of another kind
  Comparison found;           // where there is a baseline, and none of the above
  // Beside the vendor's row of the same case and mode that was the fastest when it was blessed;
  // only where there is none of the same library beside one of another version. Nothing where no
  // vendor's row is in both, where either has no time, or where an identity (of a vendor's row its
  // library and version) is not known. On a host a library's time says little: it depends on what
  // the processor offers.
  std::optional<Standing> standing;
};

// `baseline` is a row of `file` or null.
Examined examine(const Measured& row, const TimingRow* baseline, const std::vector<Measured>& run,
                 const TimingFile& file, const GateOptions& options);

// All but Cause::beyond_roof.
std::optional<Cause> find_defect(const Measured& row, Device device);

// Both rows must be free of defects, and their canaries, where both have one, of one kind.
Comparison compare(const Measured& measured, const TimingRow& baseline, Device device);

} // namespace kg::judge
