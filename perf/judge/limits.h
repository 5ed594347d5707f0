// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The thresholds of the gate; the grades' are in bands.h. Ratios are baseline / measured, so below
// 1 is slower.
#pragma once

#include "perf/judge/bands.h"
#include "perf/judge/row.h"

#include <cstddef>

namespace kg::judge {

struct Limits {
  // A canary is healthy if its time is within this factor of the blessed one, and half of its
  // interval's width is at most this share of the median.
  double canary_factor;
  double canary_half_width;
  // A row with a wider interval (half width, as a share of the median) is too noisy to bless.
  double bless_half_width;
  // Modes (statistics.h) closer than this share of the median are ignored.
  double bimodal_gap;
  // The tolerance of a newly blessed row, in percent of its time: the largest slow-down that a
  // confirmation passes.
  double tol_pct;
  // The fewest fresh processes needed to bless a gated row. The screen estimates the scatter
  // between processes from them.
  std::size_t bless_processes;
  // Below this ratio, with a healthy canary, a row fails without a confirmation.
  double fails;
};

// Host. Times are compared in units of the canary, on any CPU.
// - canary_factor 2: machines of one class differ by less, and a kernel and a canary of the same
//   kind slow down together. Beyond it the machine is of another class (instruction set, emulator,
//   half of its cores taken), and the quotient is meaningless.
// - canary_half_width 20 %: a canary wrong by 20 % moves a ratio from the suspicious threshold
//   (0.70) to 0.58, above the failing one (0.50). So a healthy canary alone cannot fail a row that
//   is not suspicious. On two shared cores the memory canary's interval is 5 to 16 %, the others'
//   0.3 to 2 %.
// - bless_half_width 30 %: the 99 % interval of five process medians is their full range, and a row
//   fails unconfirmed only if its whole ratio interval lies below the threshold.
// - tol_pct 3: a confirmation's pairs run on one machine, but shared cores scatter more than a GPU.
inline constexpr Limits kHostLimits = {2.0, 0.20, 0.30, 0.15, 3, 5, 0.50};

// GPU. Rows are compared in time, so the machine must be the blessed one: canaries within 2 %, with
// an interval as narrow. Interleaved confirmation runs can decide the default tolerance of 2 %.
inline constexpr Limits kGpuLimits = {1.02, 0.02, 0.05, 0.02, 2, 10, 0.70};

constexpr const Limits& limits(Device device) {
  return device == Device::host ? kHostLimits : kGpuLimits;
}

// Below this ratio a row is suspicious whatever the scatter. On a different host, and for a single
// run, this is the only criterion.
inline constexpr double kSuspicious = kGood;

// Above this ratio a row is called improved.
inline constexpr double kHostImproves = 1 / kGood;
inline constexpr double kGpuImproves = 1.03;

// The screen's one-sided t test. A large alpha costs extra confirmations, not false alarms. The
// scatter of so few processes may be small by chance, so a floor applies, as a share of the time.
inline constexpr std::size_t kScreenProcesses = 3;
inline constexpr double kScreenAlpha = 0.10;
inline constexpr double kLeastScatter = 0.003;

// Canary drift up to this share is noise. Beyond it, GPU times are divided by the drift.
inline constexpr double kDriftNoise = 0.01;

// The probability with which a "detectable" slow-down is detected.
inline constexpr double kPower = 0.9;

} // namespace kg::judge
