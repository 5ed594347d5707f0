// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares one measured row with its baseline row: whether they are comparable, the ratio of their
// times, and the health of the canaries. screen.h judges the comparison.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/roof.h"

#include <optional>
#include <vector>

namespace kg::judge {

// Whether machine code and launches are those of the baseline.
enum class Same { unknown, yes, no };

struct Comparison {
  double ratio = 0; // baseline / measured time, divided by the drift where `scale` says so
  Interval interval;
  double scale = 1;     // the drift if times are compared in canary units, otherwise 1
  double drift = 1;     // canary time now / when blessed; 1 without a canary
  bool canary = false;  // both rows have a canary
  bool healthy = false; // and it is within its limits
  Same code = Same::unknown;
};

// The statistics of one measured row.
struct Examined {
  std::optional<Cause> defect;
  std::optional<RoofExcess> excess; // set if the defect is Cause::beyond_roof
  std::optional<double> roof;       // the share of the nearest ceiling that the row reaches
  bool disturbed = false;           // the device was throttled, or other processes used it
  bool other_canary = false;        // the baseline has a canary of a different kind
  // Empty without a baseline, with a defect, or if the canaries are of different kinds.
  std::optional<Comparison> compared;
  // Against the library row of the same case and mode that was fastest when blessed. A row of the
  // same library version is preferred to one of another version. Empty if no library row with a
  // time and a known version is in both files. GPU only: on a host, a library's time depends on
  // the instruction sets of the processor.
  std::optional<VendorSpeedup> vendor_speedup;
};

// `baseline` points into `file`, or is null.
Examined examine(const Measured& row, const TimingRow* baseline, const std::vector<Measured>& run,
                 const TimingFile& file, const GateOptions& options);

// Finds every defect except Cause::beyond_roof.
std::optional<Cause> find_defect(const Measured& row, Device device);

// Requires rows without defects, and canaries of the same kind if both have one.
Comparison compare(const Measured& measured, const TimingRow& baseline, Device device);

} // namespace kg::judge
